import { Float } from '../data/values/value.ts';

const truths: ReadonlyMap<string, boolean> = new Map([
  ['yes', true],
  ['true', true],
  ['on', true],
  ['no', false],
  ['false', false],
  ['off', false],
]);

/** Returns `undefined` for any other text. */
export const yamlBool = (text: string): boolean | undefined => truths.get(text.toLowerCase());

/**
 * Reads an int as Salt's loader does: leading zeros are dropped (`0644` is 644) unless a sign
 * precedes them, `_` is ignored, `:` is base 60. Returns `undefined` for any other text.
 */
export const toInt = (written: string): number | bigint | undefined => {
  const stripped =
    written.startsWith('0') && !/^0[bx]/.test(written)
      ? written.replace(/^0+/, '') || '0'
      : written;
  const text = stripped.replaceAll('_', '');
  const negative = text.startsWith('-');
  const value = magnitude(/^[-+]/.test(text) ? text.slice(1) : text);
  return value === undefined ? undefined : shrink(negative ? -value : value);
};

/** Limit of characters of a number such as 1:30:00: reading one takes quadratic time. */
const longestBase60 = 1000;

const magnitude = (digits: string): bigint | undefined => {
  if (
    /^0b[01]+$/.test(digits) ||
    /^0x[0-9a-fA-F]+$/.test(digits) ||
    /^(?:0|[1-9][0-9]*)$/.test(digits)
  )
    return BigInt(digits);
  if (/^0[0-7]+$/.test(digits)) return BigInt(`0o${digits}`);
  if (digits.length > longestBase60 || !/^[0-9]+(?::[0-9]+)+$/.test(digits)) return undefined;
  return digits.split(':').reduce((sum, part) => sum * 60n + BigInt(part), 0n);
};

const shrink = (value: bigint): number | bigint =>
  value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER)
    ? Number(value)
    : value;

/** Reads a float; integral ones as `Float`. Returns `undefined` for any other text. */
export const toFloat = (written: string): number | Float | undefined => {
  const text = written.replaceAll('_', '').toLowerCase();
  const sign = text.startsWith('-') ? -1 : 1;
  const digits = /^[-+]/.test(text) ? text.slice(1) : text;
  if (digits === '.inf') return new Float(sign * Number.POSITIVE_INFINITY);
  if (digits === '.nan') return new Float(Number.NaN);
  if (digits.includes(':'))
    return fraction(sign * digits.split(':').reduce((sum, part) => sum * 60 + Number(part), 0));
  return /^(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:e[-+]?[0-9]+)?$/.test(digits)
    ? fraction(sign * Number(digits))
    : undefined;
};

const fraction = (value: number): number | Float =>
  Number.isInteger(value) || !Number.isFinite(value) ? new Float(value) : value;
