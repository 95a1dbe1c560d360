import { Float } from '../../../data/values/value.ts';
import { raise } from '../jinja-error.ts';
import { isFloat, isInt, numeric } from './number.ts';
import { digitCount, exponentText, fixedText, generalText, splitSign } from './number-text.ts';
import { textOf, typeName } from './text.ts';
import type { Value } from './value.ts';

type Spec = {
  readonly fill: string;
  readonly align: string | undefined;
  readonly sign: string;
  readonly alternate: boolean;
  readonly width: number;
  readonly group: string;
  readonly precision: number | undefined;
  readonly type: string;
};

const pattern =
  /^(?:([\s\S])?([<>=^]))?([-+ ])?(z)?(#)?(0)?(\d+)?([,_])?(?:\.(\d+))?([a-zA-Z%])?$/u;

/** Python's `format(value, spec)`. */
export const formatValue = (value: Value, text: string): string => {
  if (text === '') return textOf(value);
  const spec = parse(text, value);
  if (typeof value === 'boolean' && spec.type === '' && spec.align === undefined)
    return pad(textOf(value), spec, '<');
  if (isFloat(value)) return number(floatText(value, spec), spec);
  if (isInt(value) || typeof value === 'boolean') return number(intText(value, spec), spec);
  if (typeof value !== 'string')
    return raise(`unsupported format string passed to ${typeName(value)}.__format__`);
  if (spec.type !== '' && spec.type !== 's') return badCode(spec.type, value);
  if (spec.align === '=') return raise("'=' alignment not allowed in string format specifier");
  const shown =
    spec.precision === undefined ? value : Array.from(value).slice(0, spec.precision).join('');
  return pad(shown, spec, '<');
};

const parse = (text: string, value: Value): Spec => {
  const found = pattern.exec(text);
  if (!found)
    return raise(`Invalid format specifier '${text}' for object of type '${typeName(value)}'`);
  const [, fill, align, sign = '', , alternate, zero, width, group = '', precision, type = ''] =
    found;
  return {
    fill: fill ?? (zero && !align ? '0' : ' '),
    align: align ?? (zero ? '=' : undefined),
    sign,
    alternate: alternate !== undefined,
    width: digitCount(width ?? '0', 1_000_000),
    group,
    precision: precision === undefined ? undefined : digitCount(precision),
    type,
  };
};

const intText = (value: number | bigint | boolean, spec: Spec): string => {
  const whole = BigInt(value);
  switch (spec.type) {
    case '':
    case 'd':
    case 'n':
      if (spec.precision !== undefined)
        return raise('Precision not allowed in integer format specifier');
      return grouped(whole.toString(), spec.group, 3);
    case 'b':
    case 'o':
    case 'x':
    case 'X':
      return based(whole, spec);
    case 'c':
      return String.fromCodePoint(Number(whole));
    case 's':
      return badCode('s', value);
    default:
      return floatText(new Float(Number(whole)), spec);
  }
};

const based = (value: bigint, { type, alternate, group }: Spec): string => {
  const [minus, digits] = splitSign(
    value.toString({ b: 2, o: 8, x: 16, X: 16 }[type as 'b' | 'o' | 'x' | 'X']),
  );
  const text = (alternate ? `0${type}` : '') + grouped(digits, group, 4);
  return minus + (type === 'X' ? text.toUpperCase() : text);
};

const floatText = (value: number | Float, spec: Spec): string => {
  const real = Number(numeric(value));
  const { type, precision, group, alternate } = spec;
  switch (type) {
    case 'e':
      return exponentText(real, precision ?? 6);
    case 'E':
      return exponentText(real, precision ?? 6).toUpperCase();
    case 'f':
      return grouped(fixedText(real, precision ?? 6), group, 3);
    case 'F':
      return grouped(fixedText(real, precision ?? 6), group, 3).toUpperCase();
    case 'g':
    case 'n':
      return grouped(generalText(real, precision ?? 6, alternate), group, 3);
    case 'G':
      return generalText(real, precision ?? 6, alternate).toUpperCase();
    case '%':
      return `${fixedText(real * 100, precision ?? 6)}%`;
    case '': {
      if (precision === undefined) return grouped(textOf(value), group, 3);
      const text = generalText(real, precision, alternate);
      return /^-?\d+$/.test(text) ? `${text}.0` : text;
    }
    default:
      return badCode(type, value);
  }
};

const badCode = (type: string, value: Value): never =>
  raise(`Unknown format code '${type}' for object of type '${typeName(value)}'`);

const grouped = (text: string, separator: string, size: number): string => {
  if (separator === '') return text;
  const [, sign = '', whole = '', rest = ''] = /^(-?)(\w+)(.*)$/s.exec(text) ?? [];
  const groups: string[] = [];
  for (let end = whole.length; end > 0; end -= size)
    groups.unshift(whole.slice(Math.max(0, end - size), end));
  return sign + groups.join(separator) + rest;
};

const number = (text: string, spec: Spec): string => {
  const [minus, body] = splitSign(text);
  const sign = minus || (spec.sign === '-' ? '' : spec.sign);
  if (spec.align !== '=') return pad(sign + body, spec, '>');
  const prefix = sign + (/^0[box]/i.exec(body)?.[0] ?? '');
  const rest = (sign + body).slice(prefix.length);
  return prefix + spec.fill.repeat(Math.max(0, spec.width - prefix.length - rest.length)) + rest;
};

const pad = (text: string, { width, fill, align }: Spec, usual: '<' | '>'): string => {
  const room = Math.max(0, width - Array.from(text).length);
  const side = align ?? usual;
  if (side === '<') return text + fill.repeat(room);
  if (side === '^')
    return fill.repeat(Math.floor(room / 2)) + text + fill.repeat(Math.ceil(room / 2));
  return fill.repeat(room) + text;
};
