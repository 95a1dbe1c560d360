import { Float } from '../../../data/values/value.ts';
import { raise } from '../jinja-error.ts';
import type { Operations } from '../run/run.ts';
import { compare, isTruthy } from '../values/compare.ts';
import { float, int, isFloat, isNumeric, numeric, wholeNumber } from '../values/number.ts';
import { fixedText } from '../values/number-text.ts';
import { quoted, typeName } from '../values/text.ts';
import { Undefined } from '../values/undefined.ts';
import type { Value } from '../values/value.ts';
import { operations } from './define.ts';

const mostDigits = 4300;

/** Python's `int(text, base)`; undefined for other text. */
const parseInteger = (text: string, base: number): Value | undefined => {
  const found = /^\s*([-+]?)(?:0([bBoOxX]))?_?([\da-zA-Z]+(?:_[\da-zA-Z]+)*)\s*$/.exec(text);
  if (!found || text.length > mostDigits) return undefined;
  const [, sign, prefix, digits = ''] = found;
  const prefixBase = prefix && { b: 2, o: 8, x: 16 }[prefix.toLowerCase() as 'b' | 'o' | 'x'];
  if (prefixBase && base !== 0 && base !== prefixBase) return undefined;
  const radix = prefixBase || (base === 0 ? 10 : base);
  let value = 0n;
  for (const digit of digits.replaceAll('_', '')) {
    const worth = Number.parseInt(digit, 36);
    if (worth >= radix) return undefined;
    value = value * BigInt(radix) + BigInt(worth);
  }
  return int(sign === '-' ? -value : value);
};

/** Python's `float(text)`; undefined for other text. */
const parseFloating = (text: string): number | undefined => {
  const trimmed = text.trim().replace(/(?<=\d)_(?=\d)/g, '');
  if (/^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?$/.test(trimmed)) return Number(trimmed);
  const found = /^([-+]?)(?:(inf(?:inity)?)|nan)$/i.exec(trimmed);
  if (!found) return undefined;
  return found[2] ? (found[1] === '-' ? -1 : 1) * Number.POSITIVE_INFINITY : Number.NaN;
};

const toInt = (value: Value, otherwise: Value, base: Value): Value => {
  if (value instanceof Undefined) value.need();
  if (typeof value === 'string') {
    const parsed = parseInteger(value, wholeNumber(base) ?? 10);
    if (parsed !== undefined) return parsed;
    const real = parseFloating(value);
    return real === undefined || !Number.isFinite(real) ? otherwise : truncated(real);
  }
  if (!isNumeric(value)) return otherwise;
  if (!isFloat(value)) return typeof value === 'boolean' ? Number(value) : value;
  const real = Number(numeric(value));
  return Number.isFinite(real) ? truncated(real) : otherwise;
};

const truncated = (value: number): Value => int(BigInt(Math.trunc(value)));

const toFloat = (value: Value, otherwise: Value): Value => {
  if (value instanceof Undefined) value.need();
  if (typeof value === 'string') {
    const parsed = parseFloating(value);
    return parsed === undefined ? otherwise : float(parsed);
  }
  return isNumeric(value) ? float(Number(numeric(value))) : otherwise;
};

const real = (value: Value): number => {
  if (value instanceof Undefined) value.raise();
  return isNumeric(value)
    ? Number(numeric(value))
    : raise(`type ${typeName(value)} doesn't define __round__ method`);
};

const round = (value: Value, precision: number, method: Value): Value => {
  if (method !== 'common' && method !== 'ceil' && method !== 'floor')
    return raise('method must be common, ceil or floor');
  const number = real(value);
  if (isFloat(value) && !Number.isFinite(number)) return value;
  if (method !== 'common') {
    const scale = 10 ** precision;
    return float(Math[method](number * scale) / scale);
  }
  if (!isFloat(value))
    return precision >= 0
      ? typeof value === 'boolean'
        ? Number(value)
        : value
      : roundTens(number, -precision);
  if (precision < 0) return float(Number(roundTens(number, -precision)));
  return float(Number(fixedText(number, Math.min(precision, 100))));
};

const roundTens = (value: number, zeros: number): number => {
  const scale = 10 ** zeros;
  return Number(fixedText(value / scale, 0)) * scale;
};

const absolute = (value: Value): Value => {
  if (value instanceof Undefined) value.raise();
  if (!isNumeric(value)) return raise(`bad operand type for abs(): '${typeName(value)}'`);
  const number = numeric(value);
  if (isFloat(value)) return float(Math.abs(Number(number)));
  return compare(number, 0) < 0 ? (typeof number === 'bigint' ? int(-number) : -number) : number;
};

const noFloat = (value: Value): never =>
  raise(
    typeof value === 'string'
      ? `could not convert string to float: ${quoted(value)}`
      : `float() argument must be a string or a real number, not '${typeName(value)}'`,
  );

const units = ['k', 'M', 'G', 'T', 'P', 'E', 'Z', 'Y'];

const fileSize = (value: Value, isBinary: boolean): string => {
  const read = toFloat(value, null);
  const bytes = isNumeric(read) ? Number(numeric(read)) : noFloat(value);
  const base = isBinary ? 1024 : 1000;
  if (bytes === 1) return '1 Byte';
  if (bytes < base) return `${BigInt(Math.trunc(bytes))} Bytes`;
  let unit = 0;
  while (unit < units.length - 1 && bytes >= base ** (unit + 2)) unit += 1;
  const name = isBinary ? `${units[unit]?.toUpperCase()}iB` : `${units[unit]}B`;
  return `${fixedText(bytes / base ** (unit + 1), 1)} ${name}`;
};

/** Jinja's filters on numbers. */
export const numberFilters: Operations = operations({
  int: [
    ['default?', 'base?'],
    (value, [otherwise = 0, base = 10]) => toInt(value, otherwise, base),
  ],
  float: [['default?'], (value, [otherwise = new Float(0)]) => toFloat(value, otherwise)],
  abs: [[], absolute],
  round: [
    ['precision?', 'method?'],
    (value, [precision = 0, method = 'common']) =>
      round(value, wholeNumber(precision) ?? 0, method),
  ],
  filesizeformat: [['binary?'], (value, [binary = false]) => fileSize(value, isTruthy(binary))],
});
