import { canonical } from './canonical.ts';
import { cloneData, cloneTree, isTree } from './clone.ts';
import { copyDict } from './shared-dict.ts';
import { type Data, type Dict, isDict } from './value.ts';

/**
 * Merges `above` into `target` in place, dictionaries at every depth; lists are replaced or, with
 * `mergeLists`, joined without duplicates. New values are shared with `above`, not copied:
 * templates see both as in Python. (salt.utils.dictupdate.update)
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
 * Merges `above` over a copy of `below`, which is not changed.
 * (salt.utils.dictupdate.merge_recurse)
 */
export const mergeRecursive = (below: Dict, above: Dict, mergeLists: boolean): Dict =>
  updateDict(cloneData(below) as Dict, above, mergeLists);

/**
 * Merges all of these, the first one lowest, in time linear in their size. The result shares values
 * only with the last one.
 */
export const mergeAllByStrategy = (list: readonly Data[], options: MergeOptions): Data => {
  // If a value occurs twice, changing one occurrence must not change the other.
  if (!isTree([...list]))
    return list.reduce<Data>(
      (below, above) => mergeByStrategy(cloneData(below), above, options),
      new Map(),
    );
  const strategy = strategyOf(options);
  const joins = new Joins();
  let merged: Data = new Map();
  for (const [at, item] of list.entries()) {
    const above = at === list.length - 1 ? item : cloneTree(item);
    if (isDict(merged) && isDict(above) && strategy !== 'list')
      joins.lay(merged, above, strategy, options.mergeLists);
    else if (strategy === 'aggregate' && Array.isArray(merged) && Array.isArray(above))
      merged = joins.join(merged, above);
    else merged = mergeByStrategy(merged, above, options);
  }
  return merged;
};

/** Joins lists repeatedly, and keeps an index of their items. */
class Joins {
  readonly #seen = new WeakMap<readonly Data[], Set<string>>();

  /** As `mergeDicts`, in `target` itself. */
  lay(target: Dict, above: Dict, strategy: string, mergeLists: boolean): void {
    const isFlat = strategy === 'aggregate' || strategy === 'overwrite';
    for (const [key, value] of above) {
      const known = isFlat ? undefined : target.get(key);
      if (isDict(known) && isDict(value)) this.lay(known, value, strategy, mergeLists);
      else if (mergeLists && strategy === 'recurse' && Array.isArray(known) && Array.isArray(value))
        target.set(key, this.join(known, value));
      else target.set(key, value);
    }
  }

  /** Joins in place if `below` was made here, otherwise as `joinLists`. */
  join(below: Data[], above: readonly Data[]): Data[] {
    const known = this.#seen.get(below);
    const seen = known ?? new Set(below.map(canonical));
    const joined = known ? below : [...below];
    for (const item of above) {
      const text = canonical(item);
      if (!seen.has(text)) joined.push(item);
      seen.add(text);
    }
    this.#seen.set(joined, seen);
    return joined;
  }
}

export type MergeOptions = {
  /** smart, recurse, list, aggregate, overwrite or none. */
  readonly strategy: string;
  /** Under `yamlex` smart means aggregate. */
  readonly renderer?: string;
  /** With recurse, lists are joined, each value once. */
  readonly mergeLists: boolean;
};

/**
 * Merges `above` over `below` by one of Salt's strategies. Neither is changed; values that only one
 * of them has are shared with it. (salt.utils.dictupdate.merge)
 */
export const mergeByStrategy = (below: Data, above: Data, options: MergeOptions): Data => {
  const strategy = strategyOf(options);
  if (strategy === 'aggregate') return aggregate(below, above);
  return isDict(below) && isDict(above) ? mergeDicts(below, above, options) : above;
};

/** As `mergeByStrategy`, for dictionaries. */
export const mergeDicts = (below: Dict, above: Dict, options: MergeOptions): Dict => {
  switch (strategyOf(options)) {
    case 'list':
      return sideBySide(below, above);
    // The values of `above` are used unchanged: nothing is merged below the first level.
    case 'aggregate':
    case 'overwrite':
      return new Map([...below, ...above]);
    case 'recurse':
      return lay(below, above, options.mergeLists);
    default:
      return lay(below, above, false);
  }
};

/** Returns the strategy; that of `smart` depends on the renderer. */
export const strategyOf = ({ strategy, renderer = '' }: MergeOptions): string => {
  if (strategy !== 'smart') return strategy;
  return /(^|\|)\s*yamlex/.test(renderer) ? 'aggregate' : 'recurse';
};

/** Combines the values of common keys in lists. */
const sideBySide = (below: Dict, above: Dict): Dict =>
  new Map(
    [...below].map(([key, value]) => [
      key,
      above.has(key) ? [value, above.get(key) ?? null] : value,
    ]),
  );

const lay = (below: Dict, above: Dict, mergeLists: boolean): Dict => {
  if (below.size === 0) return copyDict(above, below);
  const merged = copyDict(below);
  for (const [key, value] of above) {
    const known = merged.get(key);
    if (isDict(known) && isDict(value)) merged.set(key, lay(known, value, mergeLists));
    else if (mergeLists && Array.isArray(known) && Array.isArray(value))
      merged.set(key, joinLists(known, value));
    else merged.set(key, value);
  }
  return merged;
};

/** Merges one level deep, as Salt does. (salt.serializers.yamlex.merge_recursive) */
const aggregate = (below: Data, above: Data): Data => {
  if (isDict(below) && isDict(above)) return new Map([...below, ...above]);
  if (Array.isArray(below) && Array.isArray(above)) return joinLists(below, above);
  return above;
};

/** Joins `below` and `above` without duplicates. */
export const joinLists = (below: readonly Data[], above: readonly Data[]): Data[] => {
  const seen = new Set(below.map(canonical));
  const fresh = above.filter(item => {
    const text = canonical(item);
    const isNew = !seen.has(text);
    seen.add(text);
    return isNew;
  });
  return [...below, ...fresh];
};
