import { raise } from '../jinja-error.ts';
import { charCount } from '../values/iterate.ts';
import { repeatText } from '../values/operators.ts';
import { isTuple, tuple, type Value } from '../values/value.ts';
import { count, stringArgument } from './arguments.ts';

/** Returns a part of a text by code points, as Python's `start` and `end` select it. */
export const part = (
  self: string,
  start: Value | undefined,
  end: Value | undefined,
): [string, number] => {
  if (start === undefined && end === undefined) return [self, 0];
  const chars = Array.from(self);
  const place = (index: number): number =>
    Math.min(Math.max(index < 0 ? index + chars.length : index, 0), chars.length);
  const from = start === undefined || start === null ? 0 : place(count(start));
  const to = end === undefined || end === null ? chars.length : place(count(end));
  return [chars.slice(from, Math.max(from, to)).join(''), from];
};

/** Whether the text, or one of a tuple of texts, passes the test. */
export const anyOf = (value: Value | undefined, test: (text: string) => boolean): boolean =>
  Array.isArray(value) && isTuple(value)
    ? value.some(item => test(stringArgument(item)))
    : test(stringArgument(value));

const indexIn = (self: string, wanted: string, isLast: boolean): number => {
  const at = isLast ? self.lastIndexOf(wanted) : self.indexOf(wanted);
  return at < 0 ? -1 : charCount(self.slice(0, at));
};

/** `find`, `index` and those from the right. */
export const finder =
  (isLast: boolean, mustExist: boolean) =>
  (self: string, [wanted, start, end]: (Value | undefined)[]): Value => {
    const [piece, offset] = part(self, start, end);
    const at = indexIn(piece, stringArgument(wanted), isLast);
    if (at < 0) return mustExist ? raise('substring not found') : -1;
    return at + offset;
  };

/** `partition` and `rpartition`. */
export const partition = (self: string, separator: string, isLast: boolean): Value => {
  if (separator === '') raise('empty separator');
  const at = isLast ? self.lastIndexOf(separator) : self.indexOf(separator);
  if (at < 0) return tuple(isLast ? ['', '', self] : [self, '', '']);
  return tuple([self.slice(0, at), separator, self.slice(at + separator.length)]);
};

/** Python's `text.replace` for at most `most` occurrences; negative: for all. */
export const replaceText = (self: string, old: string, fresh: string, most: number): string => {
  const places = most === 0 ? 0 : old === '' ? charCount(self) + 1 : self.split(old).length - 1;
  repeatText(fresh, most < 0 ? places : Math.min(places, most));
  if (most < 0 && old !== '') return self.replaceAll(old, () => fresh);
  let left = most < 0 ? places : most;
  if (old === '') {
    const chars = Array.from(self);
    const pieces = chars.map(char => (left-- > 0 ? fresh + char : char)).join('');
    return left > 0 ? pieces + fresh : pieces;
  }
  let result = '';
  let at = 0;
  for (; left > 0; left -= 1) {
    const found = self.indexOf(old, at);
    if (found < 0) break;
    result += self.slice(at, found) + fresh;
    at = found + old.length;
  }
  return result + self.slice(at);
};
