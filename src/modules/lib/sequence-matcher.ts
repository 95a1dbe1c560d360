/** A run of equal lines: place in the first list, place in the second, length. */
export type Block = readonly [number, number, number];

/**
 * The matching blocks of two lists, found the way of Python's `difflib.SequenceMatcher` (with
 * its rule that a line which is more than 1 % of 200 or more lines is too popular to anchor a
 * match), so that a diff is the same as Salt's. Ends with the empty block at both ends.
 */
export const matchingBlocks = (a: readonly string[], b: readonly string[]): Block[] => {
  const places = placesOf(b);
  const found: Block[] = [];
  const queue: [number, number, number, number][] = [[0, a.length, 0, b.length]];
  for (let next = queue.pop(); next; next = queue.pop()) {
    const [alo, ahi, blo, bhi] = next;
    const block = longestMatch(a, b, places, next);
    const [i, j, size] = block;
    if (size === 0) continue;
    found.push(block);
    if (alo < i && blo < j) queue.push([alo, i, blo, j]);
    if (i + size < ahi && j + size < bhi) queue.push([i + size, ahi, j + size, bhi]);
  }
  found.sort((x, y) => x[0] - y[0] || x[1] - y[1]);
  return joinAdjacent(found, a.length, b.length);
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

const longestMatch = (
  a: readonly string[],
  b: readonly string[],
  places: Map<string, number[]>,
  [alo, ahi, blo, bhi]: [number, number, number, number],
): Block => {
  let [besti, bestj, size] = [alo, blo, 0];
  let lengths = new Map<number, number>();
  for (let i = alo; i < ahi; i++) {
    const next = new Map<number, number>();
    for (const j of places.get(a[i] ?? '') ?? []) {
      if (j < blo) continue;
      if (j >= bhi) break;
      const k = (lengths.get(j - 1) ?? 0) + 1;
      next.set(j, k);
      if (k > size) [besti, bestj, size] = [i - k + 1, j - k + 1, k];
    }
    lengths = next;
  }
  while (besti > alo && bestj > blo && a[besti - 1] === b[bestj - 1]) {
    besti--;
    bestj--;
    size++;
  }
  while (besti + size < ahi && bestj + size < bhi && a[besti + size] === b[bestj + size]) size++;
  return [besti, bestj, size];
};

const joinAdjacent = (blocks: Block[], aEnd: number, bEnd: number): Block[] => {
  const joined: Block[] = [];
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
