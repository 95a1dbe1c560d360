import type { Plain } from '../protocol/plain.ts';
import { isPlainDict } from '../protocol/plain.ts';
import { unsafeCharacters } from '../protocol/unsafe-characters.ts';

const unsafe = new RegExp(`[${unsafeCharacters}]`, 'g');

/**
 * Makes a host's text safe for a terminal: each control character becomes `?`, as Salt writes ESC.
 * Newlines and tabs stay.
 */
export const harmless = (text: string): string => text.replace(/\r\n/g, '\n').replace(unsafe, '?');

/**
 * Returns the text on one line: a newline of a host must not begin a line on standard error or in
 * the log file, where it could look like our message or another host's.
 */
export const oneLine = (text: string): string =>
  harmless(text)
    .replaceAll('\n', '\\n')
    .replace(/[\u2028\u2029]/g, character => `\\u${character.charCodeAt(0).toString(16)}`);

/** Indents every line but the first, so that none of them looks like a message. */
export const indented = (text: string): string =>
  harmless(text)
    .replace(/[\u2028\u2029]/g, '\n')
    .replaceAll('\n', '\n    ');

const lineBreak = /\r\n|[\n\r\v\f\u001c-\u001e\u0085\u2028\u2029]/;

/** The lines of a text where Python's `str.splitlines` sees them. */
export const outputLinesOf = (text: string): string[] => {
  const lines = text.split(lineBreak);
  if (lines.at(-1) === '') lines.pop();
  return lines;
};

/** A number as Python writes it. */
export const numberText = (value: number): string => {
  if (Number.isInteger(value) && Math.abs(value) < 1e21) return BigInt(value).toString();
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'nan' : value < 0 ? '-inf' : 'inf';
  return String(value).replace(/e([+-])(\d)$/, 'e$10$2');
};

/** Milliseconds as Salt writes them: a float, so `12` is `12.0`. */
export const shownFloat = (value: unknown): string =>
  typeof value === 'number' && Number.isInteger(value)
    ? value.toFixed(1)
    : typeof value === 'number'
      ? numberText(value)
      : String(value);

/** A value as Python's `str` writes it. */
export const showValue = (value: Plain | undefined): string =>
  typeof value === 'string' ? value : repr(value);

/** A value as Python's `repr` writes it. */
export const repr = (value: Plain | undefined): string => {
  if (value === null || value === undefined) return 'None';
  if (value === true) return 'True';
  if (value === false) return 'False';
  if (typeof value === 'number') return numberText(value);
  if (typeof value === 'string') return reprText(value);
  if (Array.isArray(value)) return `[${value.map(repr).join(', ')}]`;
  if (!isPlainDict(value)) return String(value);
  const pairs = Object.entries(value).map(([key, item]) => `${reprText(key)}: ${repr(item)}`);
  return `{${pairs.join(', ')}}`;
};

const reprText = (text: string): string => {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const body = text
    .replaceAll('\\', '\\\\')
    .replaceAll(quote, `\\${quote}`)
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r')
    .replaceAll('\t', '\\t')
    .replace(unsafe, character => {
      const code = character.charCodeAt(0);
      return code < 256
        ? `\\x${code.toString(16).padStart(2, '0')}`
        : `\\u${code.toString(16).padStart(4, '0')}`;
    });
  return `${quote}${body}${quote}`;
};

/** Keys in Python's order. */
export const sortedKeys = (dict: object): string[] => Object.keys(dict).sort(compareText);

/** Python's order of strings: by code point. */
export const compareText = (left: string, right: string): number => {
  if (left === right) return 0;
  const a = Array.from(left);
  const b = Array.from(right);
  for (let at = 0; at < a.length && at < b.length; at += 1) {
    const difference = (a[at]?.codePointAt(0) ?? 0) - (b[at]?.codePointAt(0) ?? 0);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
};
