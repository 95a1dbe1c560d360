import { isOrdered } from '../values/ordered.ts';
import { type Data, type Dict, Float, isDict } from '../values/value.ts';

/** Formats a value as Python's `str()` does: Salt matches targets and prints errors that way. */
export const pyStr = (value: Data): string => (typeof value === 'string' ? value : pyRepr(value));

/** Formats a value as Python's `repr()` does. */
export const pyRepr = (value: Data): string => {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'string') return reprText(value);
  if (typeof value === 'number') return reprNumber(value);
  if (Array.isArray(value)) return `[${value.map(pyRepr).join(', ')}]`;
  if (isDict(value)) return isOrdered(value) ? reprOrdered(value) : reprDict(value);
  return String(value);
};

const reprDict = (dict: Dict): string =>
  `{${[...dict].map(([key, item]) => `${pyRepr(key)}: ${pyRepr(item)}`).join(', ')}}`;

const reprOrdered = (dict: Dict): string => {
  const items = [...dict].map(([key, item]) => `(${pyRepr(key)}, ${pyRepr(item)})`);
  return items.length === 0 ? 'OrderedDict()' : `OrderedDict([${items.join(', ')}])`;
};

/** Returns the name of the Python type that Salt would have here. */
export const pyType = (value: Data): string => {
  if (value === null) return 'NoneType';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'string') return 'str';
  if (typeof value === 'bigint') return 'int';
  if (value instanceof Float) return 'float';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int' : 'float';
  return Array.isArray(value) ? 'list' : 'OrderedDict';
};

const reprNumber = (value: number): string => {
  const text = String(value);
  const [mantissa, exponent] = text.split('e');
  if (exponent === undefined) return text;
  const sign = exponent.startsWith('-') ? '-' : '+';
  return `${mantissa}e${sign}${exponent.replace(/^[+-]/, '').padStart(2, '0')}`;
};

const escapes: Record<string, string> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Escapes a character by its number: `\xe9`, `\u20ac`, `\U0001f600`. */
export const escapeOf = (char: string): string => {
  const code = char.codePointAt(0) ?? 0;
  const [letter, width] = code > 0xffff ? ['U', 8] : code > 0xff ? ['u', 4] : ['x', 2];
  return `\\${letter}${code.toString(16).padStart(width, '0')}`;
};

const reprText = (text: string): string => {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const body = text.replace(/[\\\n\r\t'"]|(?! )[\p{C}\p{Z}]/gu, char => {
    if (char === quote) return `\\${char}`;
    if (char === "'" || char === '"') return char;
    return escapes[char] ?? escapeOf(char);
  });
  return quote + body + quote;
};
