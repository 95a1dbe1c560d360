import { isWholeFloat, wholeFloatAt } from '../../../protocol/whole-floats.ts';

/** How Python shows values, where Salt puts them into files and comments. */

/** `str(value)`. */
export const plainStr = (value: unknown): string =>
  typeof value === 'string' ? value : plainRepr(value);

/** `repr(value)` of JSON data. */
export const plainRepr = (value: unknown): string => {
  if (value === null || value === undefined) return 'None';
  if (value === true) return 'True';
  if (value === false) return 'False';
  if (typeof value === 'string') return reprText(value);
  if (typeof value !== 'object') return String(value);
  const itemRepr = (key: string | number, item: unknown): string =>
    wholeFloatAt(value, key) ?? plainRepr(item);
  if (Array.isArray(value)) return `[${value.map((item, at) => itemRepr(at, item)).join(', ')}]`;
  return `{${Object.entries(value)
    .map(([key, item]) => `${plainRepr(key)}: ${itemRepr(key, item)}`)
    .join(', ')}}`;
};

/** `str()` of what a list or dict has there. */
export const pyItem = (container: Readonly<Record<string, unknown>>, key: string): string =>
  wholeFloatAt(container, key) ?? plainStr(container[key]);

/** The name of the Python type of a dict's value. */
export const pyTypeAt = (container: Readonly<Record<string, unknown>>, key: string): string => {
  const item = container[key];
  if (item === null || item === undefined) return 'NoneType';
  if (typeof item === 'number')
    return Number.isInteger(item) && !isWholeFloat(container, key) ? 'int' : 'float';
  if (typeof item === 'boolean') return 'bool';
  if (Array.isArray(item)) return 'list';
  return typeof item === 'object' ? 'dict' : 'str';
};

const reprText = (text: string): string => {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text
    .replaceAll('\\', '\\\\')
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r')
    .replaceAll('\t', '\\t')
    .replaceAll(quote, `\\${quote}`);
  return quote + escaped + quote;
};

/** `str.splitlines()`: lines without their ends, by every line end that Python knows. */
export const splitLines = (text: string): string[] => {
  const lines = text.split(/\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/);
  if (lines.at(-1) === '') lines.pop();
  return lines;
};

/** `str.splitlines(True)` of bytes: lines with their ends (`\n`, `\r`, `\r\n`). */
export const splitKeepingEnds = (text: string): string[] =>
  text.match(/[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$/g) ?? [];

/** A string, a list or anything else as the list of texts that Salt makes of it. */
export const textList = (value: unknown): string[] =>
  Array.isArray(value) ? value.map(plainStr) : [plainStr(value)];
