import {
  cutRanges,
  firstBehind,
  isTouched,
  type Ranges,
  type TaintRange,
} from '../../data/taint.ts';
import { scalarTokens } from '../../yaml/scalar-tokens.ts';
import { someString } from './some-string.ts';

/** Returns the tainted parts of a text. */
export type FindRanges = (text: string) => Ranges | undefined;

/** Tainted parts of a result; `undefined` if they cannot be determined. */
export type FoundRanges = readonly TaintRange[] | undefined;

const shifted = (ranges: readonly TaintRange[], by: number): TaintRange[] =>
  ranges.map(range => ({ ...range, start: range.start + by, end: range.end + by }));

/** A text concatenated from others. */
export class Pieces {
  text = '';
  readonly ranges: TaintRange[] = [];

  add(text: string, ranges: readonly TaintRange[] | undefined): this {
    if (ranges) for (const range of shifted(ranges, this.text.length)) this.#push(range);
    this.text += text;
    return this;
  }

  /** Merges adjacent ranges: a text that grows in a loop would copy all of them each time. */
  #push(range: TaintRange): void {
    const last = this.ranges.at(-1);
    const isOne =
      last?.end === range.start &&
      last.source === range.source &&
      last.place === range.place &&
      [last.isNode, last.isEscaped, range.isNode, range.isEscaped].every(is => !is);
    if (isOne) this.ranges[this.ranges.length - 1] = { ...last, end: range.end };
    else this.ranges.push(range);
  }

  /** Returns the tainted parts, if these pieces make up the result. */
  of(result: string): FoundRanges {
    return this.text === result ? this.ranges : undefined;
  }
}

/** Returns the tainted parts of a result that is a part of the text. */
export const ofPart = (text: string, result: string, at: number, look: FindRanges): FoundRanges =>
  text.startsWith(result, at) ? cutRanges(look(text) ?? [], at, at + result.length) : undefined;

/** Returns the tainted parts of a result that has one character for each character of the text. */
export const ofSameLength = (text: string, result: string, look: FindRanges): FoundRanges =>
  text.length === result.length
    ? (look(text) ?? []).map(range => ({ ...range, isNode: false }))
    : undefined;

/** Returns the tainted parts after replacing a substring, `most` times unless that is negative. */
export const ofReplaced = (
  text: string,
  [old, fresh, most = -1]: readonly unknown[],
  result: string,
  look: FindRanges,
): FoundRanges => {
  if (typeof old !== 'string' || typeof fresh !== 'string' || old === '') return undefined;
  const ranges = look(text) ?? [];
  const pieces = new Pieces();
  let at = 0;
  for (let count = 0; typeof most !== 'number' || most < 0 || count < most; count += 1) {
    const next = text.indexOf(old, at);
    if (next < 0) break;
    pieces.add(text.slice(at, next), cutRanges(ranges, at, next));
    const isTainted = isTouched(ranges, next, next + old.length);
    const source = ranges[firstBehind(ranges, next)]?.source ?? '';
    // If the replaced characters are tainted, the replacement is clean, but the host chose its
    // position.
    pieces.add(
      fresh,
      isTainted && fresh !== '' ? [{ start: 0, end: fresh.length, source }] : look(fresh),
    );
    at = next + old.length;
  }
  pieces.add(text.slice(at), cutRanges(ranges, at, text.length));
  return pieces.of(result);
};

/** Returns the tainted parts after indenting the lines of the text. */
export const ofIndented = (text: string, result: string, look: FindRanges): FoundRanges => {
  const lines = text.split('\n');
  const indented = result.split('\n');
  if (lines.length !== indented.length) return undefined;
  const offsets: [from: number, to: number][] = [];
  let from = 0;
  let to = 0;
  for (const [index, line] of lines.entries()) {
    const long = indented[index] ?? '';
    const blanks = long.length - line.length;
    if (blanks < 0 || !long.endsWith(line) || !/^[ \t]*$/.test(long.slice(0, blanks)))
      return undefined;
    offsets.push([from, to + blanks]);
    from += line.length + 1;
    to += long.length + 1;
  }
  return (look(text) ?? []).flatMap(range => acrossLines(range, offsets, text.length));
};

/**
 * Moves a range of a text whose lines were indented. A whole value stays one range; the added
 * spaces are clean.
 */
const acrossLines = (
  range: TaintRange,
  offsets: readonly (readonly [from: number, to: number])[],
  length: number,
): TaintRange[] => {
  const moved: TaintRange[] = [];
  for (let index = lineOf(range.start, offsets); index < offsets.length; index += 1) {
    const [from, to] = offsets[index] ?? [0, 0];
    if (from >= range.end) break;
    const end = offsets[index + 1]?.[0] ?? length;
    const [start, stop] = [Math.max(range.start, from), Math.min(range.end, end)];
    if (start < stop) moved.push({ ...range, start: start - from + to, end: stop - from + to });
  }
  const [first] = moved;
  const last = moved.at(-1);
  return range.isNode && first && last ? [{ ...range, start: first.start, end: last.end }] : moved;
};

/** Returns the index of the last line that begins at or before an offset. */
const lineOf = (
  offset: number,
  offsets: readonly (readonly [from: number, to: number])[],
): number => {
  let low = 0;
  let high = offsets.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((offsets[middle]?.[0] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
};

/** Returns the tainted parts of ordered parts of a text with the same separator between them. */
export const ofSplit = (
  text: string,
  separator: unknown,
  parts: readonly unknown[],
  look: FindRanges,
): readonly (readonly [string, FoundRanges])[] | undefined => {
  const ranges = look(text);
  if (!ranges || typeof separator !== 'string' || parts.join(separator) !== text) return undefined;
  let at = 0;
  return parts.map(part => {
    const own = String(part);
    const found = cutRanges(ranges, at, at + own.length);
    at += own.length + separator.length;
    return [own, found] as const;
  });
};

/** Returns the tainted parts of a list's items joined to one text. */
export const ofJoined = (
  items: readonly unknown[],
  separator: string,
  result: string,
  look: FindRanges,
): FoundRanges => {
  const pieces = new Pieces();
  const between = look(separator);
  for (const [index, item] of items.entries()) {
    if (index > 0) pieces.add(separator, between);
    if (typeof item === 'string') pieces.add(item, look(item));
    else if (typeof item === 'number') pieces.add(String(item), undefined);
    else return undefined;
  }
  return pieces.of(result);
};

/** Limit of characters that are searched for scalars: a host chooses how many scalars there are. */
const longestSerialized = 32 * 1024;

/**
 * Returns the tainted parts of serialized data: each tainted string is searched among the scalars
 * of the text. If one is not found, or the text is too long, all of it is one tainted value.
 */
export const ofSerialized = (value: unknown, result: string, look: FindRanges): FoundRanges => {
  const leaves = new Map<string, { ranges: Ranges; count: number }>();
  let source: string | undefined;
  someString(value, text => {
    const known = leaves.get(text);
    if (known) known.count += 1;
    const ranges = known ? undefined : look(text);
    if (ranges) leaves.set(text, { ranges, count: 1 });
    source ??= ranges?.[0].source;
    return false;
  });
  if (source === undefined) return [];
  const whole: Ranges = [{ start: 0, end: result.length, source, isNode: true }];
  if (result.length > longestSerialized) return whole;
  const found: TaintRange[] = [];
  for (const { value: written, from, to } of scalarTokens(result) ?? []) {
    const leaf = leaves.get(written);
    if (!leaf) continue;
    leaf.count -= 1;
    if (result.slice(from, to) === written) found.push(...shifted(leaf.ranges, from));
    else if (to > from)
      found.push({ start: from, end: to, source: leaf.ranges[0].source, isEscaped: true });
  }
  const isWhole = [...leaves.values()].every(({ count }) => count <= 0);
  return isWhole ? found.map(range => ({ ...range, isNode: false })) : whole;
};
