import { type Data, Float } from '../../data/values/value.ts';
import { scalarText } from './python-text.ts';

/** Converts a string to a number, if possible; a number to an integer (Python's `int`). */
export const toNumber = (value: Data): Data => {
  if (typeof value === 'boolean') return Number(value);
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number' || value instanceof Float) return Math.trunc(Number(value));
  if (typeof value !== 'string')
    throw new TypeError(`to_num takes a text, not ${scalarText(value)}`);
  const text = asciiDigits(value.trim());
  if (/^[-+]?\d+(?:_\d+)*$/.test(text)) {
    const whole = BigInt(text.replaceAll('_', '').replace(/^\+/, ''));
    return Number.isSafeInteger(Number(whole)) ? Number(whole) : whole;
  }
  const plain = text.replace(/(?<=\d)_(?=\d)/g, '');
  const special = /^([-+]?)(?:(inf(?:inity)?)|nan)$/i.exec(plain);
  if (special)
    return new Float(
      special[2] === undefined ? Number.NaN : Number(`${special[1]}1`) * Number.POSITIVE_INFINITY,
    );
  if (!/^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?$/.test(plain)) return value;
  const number = Number(plain);
  return Number.isInteger(number) || !Number.isFinite(number) ? new Float(number) : number;
};

/** Converts digits of any script to 0–9: they are in groups of ten, starting with zero. */
const asciiDigits = (text: string): string =>
  text.replace(/[^\0-\x7f]/gu, char => {
    if (!/\p{Nd}/u.test(char)) return char;
    let zero = char.codePointAt(0) ?? 0;
    const code = zero;
    while (code - zero < 9 && /\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
    return String((code - zero) % 10);
  });

/** Converts `2G`, `30MB`, `64KiB` to a number of bytes; 0 for anything else. */
export const humanToBytes = (size: string, defaultUnit: string, isMetric: boolean): Data => {
  const [, digits = '', written = ''] = /^([0-9.]*)\s*([\s\S]*)$/.exec(size.trim()) ?? [];
  const unit = (written || defaultUnit).toLowerCase();
  if (!/^(?:\d+(?:\.\d*)?|\.\d+)$/.test(digits)) return 0;
  const isDecimal = /^[kmgtpezy]b$/.test(unit);
  if (!isDecimal && !/^(?:b|[kmgtpezy](?:ib)?)$/.test(unit)) return 0;
  const power = 'bkmgtpezy'.indexOf(unit.charAt(0));
  const factor = (isDecimal && isMetric ? 1000n : 1024n) ** BigInt(power);
  if (digits.includes('.')) return Math.trunc(Number(digits) * Number(factor));
  const bytes = BigInt(digits) * factor;
  return bytes <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(bytes) : bytes;
};
