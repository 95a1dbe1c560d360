import { cloneData } from './clone.ts';
import { dumpJson } from './json-dump.ts';
import { type Data, type Dict, isDict } from './value.ts';

/**
 * Lays `above` over `target` in `target` itself, dictionaries at every depth; lists are replaced,
 * or joined (each value once) with `mergeLists`. What is new is shared with `above`, not copied:
 * templates see both as Python does. (salt.utils.dictupdate.update)
 *
 * @returns `target`
 */
export const updateDict = (target: Dict, above: Dict, mergeLists: boolean): Dict => {
  for (const [key, value] of above) {
    const known = target.get(key);
    if (isDict(known) && isDict(value)) updateDict(known, value, mergeLists);
    else if (mergeLists && Array.isArray(known) && Array.isArray(value))
      target.set(key, joinLists(known, value));
    else target.set(key, value);
  }
  return target;
};

/**
 * `above` over a copy of `below`, which stays as it is. (salt.utils.dictupdate.merge_recurse)
 */
export const mergeRecursive = (below: Dict, above: Dict, mergeLists: boolean): Dict =>
  updateDict(cloneData(below) as Dict, above, mergeLists);

/** Merges by one of Salt's strategies: smart, recurse, list, aggregate, overwrite, none. */
export const mergeByStrategy = (
  below: Data,
  above: Data,
  strategy: string,
  mergeLists: boolean,
): Data => {
  if (strategy === 'aggregate') return aggregate(below, above, 1);
  if (!isDict(below) || !isDict(above)) return above;
  if (strategy === 'list')
    return new Map(
      [...below].map(([key, value]) => [
        key,
        above.has(key) ? [value, above.get(key) ?? null] : value,
      ]),
    );
  if (strategy === 'overwrite')
    return mergeRecursive(new Map([...below, ...overlap(below, above)]), above, mergeLists);
  return mergeRecursive(below, above, mergeLists);
};

const overlap = (below: Dict, above: Dict): Dict =>
  new Map([...above].filter(([key]) => below.has(key)));

const aggregate = (below: Data, above: Data, level: number): Data => {
  if (level <= 0) return above;
  if (isDict(below) && isDict(above)) {
    const merged: Dict = new Map(below);
    for (const [key, value] of above) {
      const known = merged.get(key);
      merged.set(key, known === undefined ? value : aggregate(known, value, level - 1));
    }
    return merged;
  }
  if (Array.isArray(below) && Array.isArray(above)) return joinLists(below, above);
  return above;
};

/** `below`, then what `above` has beyond it, each value once. */
export const joinLists = (below: readonly Data[], above: readonly Data[]): Data[] => {
  const seen = new Set(below.map(item => dumpJson(item)));
  const fresh = above.filter(item => {
    const text = dumpJson(item);
    const isNew = !seen.has(text);
    seen.add(text);
    return isNew;
  });
  return [...below, ...fresh];
};
