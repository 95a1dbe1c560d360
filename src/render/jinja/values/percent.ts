import { raise, raiseLimit } from '../jinja-error.ts';
import { comparisonKey, lookUp } from './compare.ts';
import { isFloat, isNumeric, numeric } from './number.ts';
import { digitCount, exponentText, fixedText, generalText, splitSign } from './number-text.ts';
import { orElse } from './or-else.ts';
import { longestText, quoted, reprOf, textOf, typeName } from './text.ts';
import { isMap, isTuple, type OnPiece, Thing, type Value } from './value.ts';

const conversion = /%(?:\(([^()]*)\))?([-+ #0]*)(\*|\d+)?(?:\.(\*|\d+)?)?[hlL]?([\s\S])?/g;

const widest = 1_000_000;

/** Python's `format % argument`. */
export const percentFormat = (format: string, argument: Value, onPiece?: OnPiece): string => {
  const list = Array.isArray(argument) && isTuple(argument) ? argument : [argument];
  let used = 0;
  let size = 0;
  let isByName = false;
  /** By how much the result is longer than the format so far. */
  let gained = 0;
  const next = (): Value => {
    const value = list[used];
    if (value === undefined) return raise('not enough arguments for format string');
    used += 1;
    return value;
  };
  const count = (text: string | undefined, largest: number): number | undefined => {
    if (text === undefined) return undefined;
    if (text !== '*') return digitCount(text, largest);
    const value = next();
    return typeof value === 'number' ? digitCount(String(value), largest) : raise('* wants int');
  };
  const result = format.replace(
    conversion,
    (
      whole: string,
      name?: string,
      flags?: string,
      width?: string,
      precision?: string,
      letter?: string,
      offset = 0,
    ) => {
      if (letter === '%' && whole === '%%') {
        gained -= 1;
        return '%';
      }
      const value = (): Value => {
        if (name === undefined) return next();
        isByName = true;
        return named(argument, name);
      };
      const columns = count(width, widest);
      const digits = whole.includes('.') ? (count(precision, 1000) ?? 0) : undefined;
      if (letter === undefined) return raise('incomplete format');
      if (letter === '%') {
        gained += 1 - whole.length;
        return '%';
      }
      const given = value();
      const text = convert(letter, given, flags ?? '', digits);
      const padded = pad(text, columns ?? 0, flags ?? '', 'diouxXeEfFgG'.includes(letter));
      size += padded.length;
      if (size > longestText) raiseLimit('A text grew too long');
      onPiece?.(offset + gained, padded, given);
      gained += padded.length - whole.length;
      return padded;
    },
  );
  const isLeftOver = used < list.length && !isByName && !(list.length === 1 && takesNone(argument));
  return isLeftOver ? raise('not all arguments converted during string formatting') : result;
};

/** In Python, an unused dict or list argument is not an error. */
const takesNone = (argument: Value): boolean =>
  isMap(argument) || (Array.isArray(argument) && !isTuple(argument)) || argument instanceof Thing;

const named = (argument: Value, name: string): Value => {
  if (!isMap(argument)) return raise('format requires a mapping');
  return orElse(lookUp(argument, comparisonKey(name)), () => raise(quoted(name)));
};

const convert = (
  letter: string,
  value: Value,
  flags: string,
  digits: number | undefined,
): string => {
  switch (letter) {
    case 's':
      return cut(textOf(value), digits);
    case 'r':
    case 'a':
      return cut(reprOf(value), digits);
    case 'c':
      return character(value);
    case 'd':
    case 'i':
    case 'u':
      return signed(whole(value, letter, true).toString(), flags, digits);
    case 'x':
    case 'X':
    case 'o':
      return based(value, letter, flags, digits);
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
      return signed(floating(letter, real(value), digits ?? 6, flags), flags, undefined);
    default:
      return raise(
        `unsupported format character '${letter}' (0x${letter.charCodeAt(0).toString(16)})`,
      );
  }
};

const cut = (text: string, digits: number | undefined): string =>
  digits === undefined ? text : Array.from(text).slice(0, digits).join('');

const character = (value: Value): string => {
  if (typeof value === 'number' && value >= 0 && value < 0x110000)
    return String.fromCodePoint(value);
  return typeof value === 'string' && Array.from(value).length === 1
    ? value
    : raise('%c requires int or char');
};

const whole = (value: Value, letter: string, takesFloats: boolean): bigint => {
  const kind = takesFloats ? 'a real number' : 'an integer';
  if (!isNumeric(value) || (isFloat(value) && !takesFloats))
    return raise(`%${letter} format: ${kind} is required, not ${typeName(value)}`);
  const number = numeric(value);
  return typeof number === 'bigint' ? number : BigInt(Math.trunc(number));
};

const real = (value: Value): number =>
  isNumeric(value) ? Number(numeric(value)) : raise(`must be real number, not ${typeName(value)}`);

const based = (value: Value, letter: string, flags: string, digits: number | undefined): string => {
  const number = whole(value, letter, false);
  const [minus, text] = splitSign(number.toString(letter === 'o' ? 8 : 16));
  const prefix = flags.includes('#') ? `0${letter}` : '';
  const body = prefix + text.padStart(digits ?? 0, '0');
  return signed(minus + (letter === 'X' ? body.toUpperCase() : body), flags, undefined);
};

const floating = (letter: string, value: number, digits: number, flags: string): string => {
  const kind = letter.toLowerCase();
  const text =
    kind === 'f'
      ? fixedText(value, digits)
      : kind === 'e'
        ? exponentText(value, digits)
        : generalText(value, digits, flags.includes('#'));
  return kind === letter ? text : text.toUpperCase();
};

const signed = (text: string, flags: string, digits: number | undefined): string => {
  const [minus, rest] = splitSign(text);
  const sign = minus || (flags.includes('+') ? '+' : flags.includes(' ') ? ' ' : '');
  return sign + rest.padStart(digits ?? 0, '0');
};

const pad = (text: string, width: number, flags: string, isNumber: boolean): string => {
  if (flags.includes('-')) return text.padEnd(width);
  if (!flags.includes('0') || !isNumber) return text.padStart(width);
  const sign = /^[-+ ]?(?:0[xX])?/.exec(text)?.[0] ?? '';
  return sign + text.slice(sign.length).padStart(width - sign.length, '0');
};
