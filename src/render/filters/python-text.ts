import { floatText } from '../../data/python/float-text.ts';
import { type Data, Float } from '../../data/values/value.ts';

/** Formats a scalar as Python's `str()` does. */
export const scalarText = (value: Data | undefined): string => {
  if (value === null || value === undefined) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (value instanceof Float) return floatText(value.value);
  return typeof value === 'number' && !Number.isInteger(value) ? floatText(value) : String(value);
};

/**
 * Returns the string that a filter needs.
 *
 * @throws TypeError for anything else.
 */
export const requireString = (value: Data | undefined, name: string): string => {
  if (typeof value === 'string') return value;
  const found = Array.isArray(value)
    ? 'a list'
    : value instanceof Map
      ? 'a dictionary'
      : scalarText(value);
  throw new TypeError(`the filter '${name}' takes a text, not ${found}`);
};

/** Python's `str.isspace()`, of one character or more. */
export const isSpace = (text: string): boolean =>
  /^[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+$/.test(text);

/** Python's `str.capitalize()`. */
export const capitalized = (text: string): string => {
  const [first = '', ...rest] = text;
  return first.toUpperCase() + rest.join('').toLowerCase();
};
