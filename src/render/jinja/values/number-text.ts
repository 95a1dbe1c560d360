import { withoutEnd } from '../../../data/values/without-end.ts';
import { raise } from '../jinja-error.ts';

/** Formats a number with a fixed number of decimals, ties to even, as C's `%.nf`. */
export const fixedText = (value: number, digits: number): string => {
  if (!Number.isFinite(value)) return notFinite(value);
  if (Object.is(value, -0)) return `-${fixedText(0, digits)}`;
  if (Math.abs(value) >= 1e21) return BigInt(value) + (digits > 0 ? `.${'0'.repeat(digits)}` : '');
  const text = value.toFixed(digits);
  if (digits > 70) return text;
  const exact = value.toFixed(digits + 28);
  if (!/50{27}$/.test(exact)) return text;
  const below = exact.slice(0, -28).replace(/\.$/, '');
  const isEven = Number(below.at(-1)) % 2 === 0;
  return isEven ? below : text;
};

/** C's `%.ne`. */
export const exponentText = (value: number, digits: number): string =>
  Number.isFinite(value)
    ? (Object.is(value, -0) ? '-' : '') +
      value.toExponential(digits).replace(/e([+-])(\d)$/, 'e$10$2')
    : notFinite(value);

/** C's `%.ng`: the shorter form, without trailing zeros unless `keepZeros`. */
export const generalText = (value: number, digits: number, keepZeros: boolean): string => {
  if (!Number.isFinite(value)) return notFinite(value);
  const precision = Math.max(1, digits);
  const exponent = Number(value.toExponential(precision - 1).split('e')[1]);
  const isShort = exponent >= -4 && exponent < precision;
  const text = isShort
    ? fixedText(value, precision - 1 - exponent)
    : exponentText(value, precision - 1);
  if (keepZeros || !text.includes('.')) return text;
  const [mantissa = '', ...power] = text.split('e');
  return [withoutEnd(withoutEnd(mantissa, '0'), '.'), ...power].join('e');
};

export const notFinite = (value: number): string =>
  Number.isNaN(value) ? 'nan' : value < 0 ? '-inf' : 'inf';

const largestDigits = 1000;

/** Reads a precision or width in a template. */
export const digitCount = (text: string, largest = largestDigits): number => {
  const count = Number(text);
  return count > largest ? raise('Too many decimal digits in format string') : count;
};

/** Splits the sign off. */
export const splitSign = (text: string): readonly [string, string] =>
  text.startsWith('-') ? ['-', text.slice(1)] : ['', text];
