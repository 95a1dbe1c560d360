/**
 * A host-supplied part of a string, in UTF-16 units. `source` names its origin (`grain "os"`),
 * `place` the line of the template that printed it.
 */
export type TaintRange = {
  readonly start: number;
  readonly end: number;
  readonly source: string;
  /**
   * A serializer wrote the range as one whole value (a quoted string, a list, a dictionary). It may
   * be used as a whole node, which a raw range may not.
   */
  readonly isNode?: boolean | undefined;
  /**
   * A serializer wrote the range between its quotes: it may contain escapes, and cannot end the
   * string.
   */
  readonly isEscaped?: boolean | undefined;
  readonly place?: string | undefined;
  /** The range equals a host-supplied string, in the output of an engine without tracking. */
  readonly isGuessed?: boolean | undefined;
};

/** The tainted parts of one text, in order, without overlap. Never empty. */
export type Ranges = readonly [TaintRange, ...TaintRange[]];

/** Returns the ranges of a list, if any. */
export const rangesOf = (list: readonly TaintRange[]): Ranges | undefined => {
  const [first, ...rest] = list;
  return first && [first, ...rest];
};

/** Returns the whole string as one tainted range. */
export const wholeRange = (text: string, source: string, isNode = false): Ranges => [
  { start: 0, end: text.length, source, ...(isNode ? { isNode } : {}) },
];

/**
 * Returns the ranges that overlap `text.slice(start, end)`, by binary search: a host chooses how
 * many ranges a text has.
 */
export const touching = (
  ranges: readonly TaintRange[],
  start: number,
  end: number,
): readonly TaintRange[] => {
  const first = firstBehind(ranges, start);
  let last = first;
  while (last < ranges.length && (ranges[last]?.start ?? end) < end) last += 1;
  return ranges.slice(first, last);
};

/** Returns the index of the first range that ends after an offset. */
export const firstBehind = (ranges: readonly TaintRange[], offset: number): number => {
  let low = 0;
  let high = ranges.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ranges[middle]?.end ?? offset) > offset) high = middle;
    else low = middle + 1;
  }
  return low;
};

/**
 * Returns the ranges of `text.slice(start, end)`. A range that is cut is no longer a whole value.
 */
export const cutRanges = (
  ranges: readonly TaintRange[],
  start: number,
  end: number,
): TaintRange[] =>
  touching(ranges, start, end).map(range => {
    const isCut = range.start < start || range.end > end;
    return {
      ...range,
      start: Math.max(range.start, start) - start,
      end: Math.min(range.end, end) - start,
      ...(isCut ? { isNode: false, isEscaped: false } : {}),
    };
  });

/** Unites the tainted parts of two lists; where they overlap, a raw range wins. */
export const uniteRanges = (one: Ranges, other: Ranges | undefined): Ranges => {
  if (other === one || (!other && one.length === 1)) return one;
  const sorted = [...one, ...(other ?? [])].sort((a, b) => a.start - b.start || b.end - a.end);
  const united: TaintRange[] = [];
  for (const range of sorted) {
    const last = united.at(-1);
    if (!last || range.start >= last.end) united.push(range);
    else if (!isSame(range, last))
      united[united.length - 1] = {
        ...last,
        end: Math.max(last.end, range.end),
        isNode: false,
        isEscaped: false,
        isGuessed: (last.isGuessed && range.isGuessed) || undefined,
      };
  }
  return rangesOf(united) ?? one;
};

const isSame = (one: TaintRange, other: TaintRange): boolean =>
  one.start === other.start &&
  one.end === other.end &&
  one.isNode === other.isNode &&
  one.isGuessed === other.isGuessed &&
  one.isEscaped === other.isEscaped;

/**
 * Whether a host sent so much of `text.slice(start, end)` that it chose how many lines and items
 * there are, and there are more than some: all that is made of them takes time.
 */
export const isOverfilled = (
  text: string,
  ranges: readonly TaintRange[],
  most: number,
  start = 0,
  end: number = text.length,
): boolean => {
  if (end - start <= most) return false;
  let cost = 0;
  for (const range of touching(ranges, start, end)) cost += range.end - range.start + perPart;
  if (cost <= mostSent) return false;
  let items = 0;
  for (let at = start; at < end && items <= most; at += 1)
    if (isBetweenItems(text.charCodeAt(at))) items += 1;
  return items > most;
};

/** Characters, to which some are added for each part. */
const mostSent = 50_000;
const perPart = 16;

/** A line end, comma or opening bracket. */
const isBetweenItems = (code: number): boolean =>
  code === 0x0a || code === 0x2c || code === 0x5b || code === 0x7b;

/** Whether any part of `text.slice(start, end)` is tainted. */
export const isTouched = (ranges: readonly TaintRange[], start: number, end: number): boolean =>
  (ranges[firstBehind(ranges, start)]?.start ?? end) < end;

/**
 * Whether a host chooses only names within single segments of a path: its parts contain no `/` and
 * no query, form no segment `.` or `..`, and the path has clean parts too. Rule for `salt://` paths
 * and template names: a host may choose `files/{{ grains.os }}/motd`, never the folder, the root or
 * the saltenv.
 *
 * @param path a path, or a `salt://` address
 */
export const choosesOnlyNames = (path: string, ranges: Ranges): boolean => {
  if (ranges.some(({ start, end }) => /[/\\?\0\p{Cc}]/u.test(path.slice(start, end)))) return false;
  const scheme = /^salt:\/\//.exec(path)?.[0].length ?? 0;
  const query = path.indexOf('?');
  if (isTouched(ranges, 0, scheme) || (query >= 0 && isTouched(ranges, query, path.length)))
    return false;
  const bare = path.slice(scheme, query < 0 ? undefined : query);
  let at = scheme;
  for (const segment of bare.split('/')) {
    const end = at + segment.length;
    if (isTouched(ranges, at, end) && /^\.{0,2}$|^[~|]/.test(segment)) return false;
    at = end + 1;
  }
  return bare !== '' && !(ranges[0].start <= scheme && ranges[0].end >= scheme + bare.length);
};
