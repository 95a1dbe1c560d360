/** A value of a template language that is not plain data and returns the data inside it. */
export type DataHolder = { holds(): readonly unknown[] };

const isHolder = (value: object): value is DataHolder =>
  'holds' in value && typeof value.holds === 'function';

/** Limit of strings in one search. */
const most = 1_000_000;

/**
 * Visits every string in a value, keys included, until `visit` returns true.
 *
 * @returns whether one did; also true for values too large to search, which then count as tainted
 */
export const someString = (value: unknown, visit: (text: string) => boolean): boolean => {
  if (typeof value === 'string') return visit(value);
  if (typeof value !== 'object' || value === null) return false;
  const seen = new Set<object>();
  const open: unknown[] = [value];
  for (let count = 0; open.length > 0; count += 1) {
    if (count > most) return true;
    const next = open.pop();
    if (typeof next === 'string') {
      if (visit(next)) return true;
    } else if (typeof next === 'object' && next !== null && !seen.has(next)) {
      seen.add(next);
      if (Array.isArray(next)) for (const item of next) open.push(item);
      else if (next instanceof Map) for (const pair of next) open.push(pair[0], pair[1]);
      else if (isHolder(next)) for (const item of next.holds()) open.push(item);
    }
  }
  return false;
};
