/** A run of equal lines: place in the first list, place in the second, length. */
export type MatchingBlock = readonly [number, number, number];

/**
 * The matching blocks of two lists, found as Python's `difflib.SequenceMatcher` does (with
 * its rule that a line which is more than 1 % of 200 or more lines is too popular to anchor a
 * match), so that diffs equal those that Salt shows. Ends with the empty block at both ends.
 */
export const matchingBlocks = (a: readonly string[], b: readonly string[]): MatchingBlock[] => {
  const longest = longestMatches(a, b);
  const found: MatchingBlock[] = [];
  const queue: Range[] = [[0, a.length, 0, b.length, Number.POSITIVE_INFINITY]];
  for (let next = queue.pop(); next; next = queue.pop()) {
    const [alo, ahi, blo, bhi] = next;
    const { block, most } = longest(next);
    const [i, j, size] = block;
    if (size === 0) continue;
    found.push(block);
    if (alo < i && blo < j) queue.push([alo, i, blo, j, most]);
    if (i + size < ahi && j + size < bhi) queue.push([i + size, ahi, j + size, bhi, most]);
  }
  found.sort((x, y) => x[0] - y[0] || x[1] - y[1]);
  return joinAdjacent(found, a.length, b.length);
};

/** Where in both lists, and how long a run of anchors may be there: no longer than around it. */
type Range = readonly [alo: number, ahi: number, blo: number, bhi: number, most: number];

type Longest = {
  readonly block: MatchingBlock;
  /** The longest run of anchors alone. */
  readonly most: number;
};

const placesOf = (lines: readonly string[]): Map<string, number[]> => {
  const places = new Map<string, number[]>();
  lines.forEach((line, index) => {
    const known = places.get(line);
    if (known) known.push(index);
    else places.set(line, [index]);
  });
  if (lines.length >= 200) {
    const popular = Math.floor(lines.length / 100) + 1;
    for (const [line, at] of places) if (at.length > popular) places.delete(line);
  }
  return places;
};

/** Finds the longest block of a range, of several the first. */
const longestMatches = (
  a: readonly string[],
  b: readonly string[],
): ((range: Range) => Longest) => {
  const places = placesOf(b);
  const none: readonly number[] = [];
  const placesAt = (i: number): readonly number[] => places.get(a[i] ?? '') ?? none;
  // By place in `b` plus one: how long the run is that ends there. All zero between two calls.
  let before = new Int32Array(b.length + 1);
  let now = new Int32Array(b.length + 1);

  const run = ([alo, ahi, blo, bhi, bound]: Range): [number, number, number] => {
    let [besti, bestj, size] = [alo, blo, 0];
    let last = none;
    for (let i = alo; i < ahi && size < bound; i++) {
      const here = placesAt(i);
      for (const j of here) {
        if (j < blo) continue;
        if (j >= bhi) break;
        const k = (before[j] ?? 0) + 1;
        now[j + 1] = k;
        if (k > size) [besti, bestj, size] = [i - k + 1, j - k + 1, k];
      }
      for (const j of last) before[j + 1] = 0;
      [before, now] = [now, before];
      last = here;
    }
    for (const j of last) before[j + 1] = 0;
    return [besti, bestj, size];
  };

  return range => {
    const [alo, ahi, blo, bhi] = range;
    let [i, j, size] = run(range);
    const most = size;
    while (i > alo && j > blo && a[i - 1] === b[j - 1]) {
      i--;
      j--;
      size++;
    }
    while (i + size < ahi && j + size < bhi && a[i + size] === b[j + size]) size++;
    return { block: [i, j, size], most };
  };
};

const joinAdjacent = (blocks: MatchingBlock[], aEnd: number, bEnd: number): MatchingBlock[] => {
  const joined: MatchingBlock[] = [];
  let [i, j, size] = [0, 0, 0];
  for (const [i2, j2, size2] of blocks) {
    if (i + size === i2 && j + size === j2) size += size2;
    else {
      if (size > 0) joined.push([i, j, size]);
      [i, j, size] = [i2, j2, size2];
    }
  }
  if (size > 0) joined.push([i, j, size]);
  joined.push([aEnd, bEnd, 0]);
  return joined;
};
