/** Splits a version into numbers and words, as Python's LooseVersion does. */
const partsOf = (version: string): (string | number)[] =>
  (version.match(/\d+|[a-z]+|[^\da-z.]+/g) ?? []).map(part =>
    /^\d+$/.test(part) ? Number(part) : part,
  );

/**
 * Returns a number below 0, 0 or above 0 if the left version is older, equal or newer. A number and
 * a word are compared as strings.
 */
export const compareLoose = (left: string, right: string): number => {
  const [one, two] = [partsOf(left), partsOf(right)];
  for (let at = 0; at < Math.max(one.length, two.length); at += 1) {
    const [a, b] = [one[at], two[at]];
    if (a === b) continue;
    if (a === undefined || b === undefined) return a === undefined ? -1 : 1;
    const isLess = typeof a === typeof b ? a < b : String(a) < String(b);
    return isLess ? -1 : 1;
  }
  return 0;
};
