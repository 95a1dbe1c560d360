import { raise } from '../jinja-error.ts';

/** The whitespace characters of Python strings. */
const blank = /[\s\x1c-\x1f\x85]/;

/** Python's `strip`: removes whitespace, or any of the given characters. */
export const strip = (
  text: string,
  chars: string | null,
  left: boolean,
  right: boolean,
): string => {
  const isGone =
    chars === null ? (char: string) => blank.test(char) : (char: string) => chars.includes(char);
  let start = 0;
  let end = text.length;
  for (
    let char = first(text, start);
    left && start < end && isGone(char);
    char = first(text, start)
  )
    start += char.length;
  for (let char = last(text, end); right && end > start && isGone(char); char = last(text, end))
    end -= char.length;
  return text.slice(start, end);
};

const first = (text: string, at: number): string =>
  at < text.length ? String.fromCodePoint(text.codePointAt(at) ?? 0) : '';

const last = (text: string, end: number): string =>
  /[\ud800-\udbff][\udc00-\udfff]$/.exec(text.slice(Math.max(0, end - 2), end))?.[0] ??
  text.charAt(end - 1);

/** Python's `split` at a separator or, if that is null, at whitespace. */
export const split = (text: string, separator: string | null, most: number): string[] => {
  if (separator === '') raise('empty separator');
  if (separator === null) return splitBlank(text, most);
  if (most < 0) return text.split(separator);
  const parts: string[] = [];
  let at = 0;
  while (parts.length < most) {
    const found = text.indexOf(separator, at);
    if (found < 0) break;
    parts.push(text.slice(at, found));
    at = found + separator.length;
  }
  return [...parts, text.slice(at)];
};

const splitBlank = (text: string, most: number): string[] => {
  const parts: string[] = [];
  const word = /[^\s\x1c-\x1f\x85]+/g;
  for (let found = word.exec(text); found; found = word.exec(text)) {
    if (most >= 0 && parts.length >= most) {
      parts.push(strip(text.slice(found.index), null, false, true));
      break;
    }
    parts.push(found[0]);
  }
  return parts;
};

/** Python's `rsplit`. */
export const splitFromEnd = (text: string, separator: string | null, most: number): string[] => {
  if (most < 0 || separator === '') return split(text, separator, most);
  if (separator === null) return splitBlankFromEnd(text, most);
  const parts: string[] = [];
  let end = text.length;
  while (parts.length < most) {
    const found = end === 0 ? -1 : text.slice(0, end).lastIndexOf(separator);
    if (found < 0) break;
    parts.unshift(text.slice(found + separator.length, end));
    end = found;
  }
  return [text.slice(0, end), ...parts];
};

const splitBlankFromEnd = (text: string, most: number): string[] => {
  const words = [...text.matchAll(/[^\s\x1c-\x1f\x85]+/g)];
  const kept = most === 0 ? [] : words.slice(-most);
  const rest = words.length - kept.length;
  const head = words[rest - 1];
  const parts = kept.map(([word]) => word);
  if (!head) return parts;
  return [strip(text.slice(0, head.index + head[0].length), null, true, false), ...parts];
};

/** Python's `splitlines`. */
export const splitJinjaLines = (text: string, keepEnds: boolean): string[] =>
  [
    ...text.matchAll(
      /([^\n\r\v\f\x1c-\x1e\x85\u2028\u2029]*)(\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]|$)/g,
    ),
  ]
    .filter(([whole]) => whole !== '')
    .map(([whole, line = '']) => (keepEnds ? whole : line));
