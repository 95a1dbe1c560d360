import { copyDict } from '../data/ordered.ts';
import type { Data, Dict } from '../data/value.ts';
import { isDict } from '../data/value.ts';
import { canonical } from './canonical.ts';

export type MergeOptions = {
  /** `pillar_source_merging_strategy`. */
  readonly strategy: string;
  /** `renderer`: under `yamlex` smart means aggregate. */
  readonly renderer: string;
  /** `pillar_merge_lists`: lists are joined, each value once. */
  readonly mergeLists: boolean;
};

/**
 * Two pillars as one; the second wins. Neither is changed. (salt.utils.dictupdate.merge;
 * aggregation: salt.serializers.yamlex.merge_recursive at level 1)
 */
export const mergePillar = (first: Dict, second: Dict, options: MergeOptions): Dict => {
  const { renderer, mergeLists } = options;
  const strategy =
    options.strategy === 'smart'
      ? /(^|\|)\s*yamlex/.test(renderer)
        ? 'aggregate'
        : 'recurse'
      : options.strategy;
  switch (strategy) {
    case 'list':
      return mergeAsLists(first, second);
    // The second's values stand as they are, nothing is merged below the first level.
    case 'aggregate':
    case 'overwrite':
      return new Map([...first, ...second]);
    case 'none':
      return mergeRecurse(first, second, false);
    default:
      return mergeRecurse(first, second, strategy === 'recurse' && mergeLists);
  }
};

/** Keys of both: the value of each, side by side. */
const mergeAsLists = (first: Dict, second: Dict): Dict =>
  new Map(
    [...first].map(([key, value]) => [
      key,
      second.has(key) ? [value, second.get(key) ?? null] : value,
    ]),
  );

const mergeRecurse = (first: Dict, second: Dict, mergeLists: boolean): Dict => {
  const merged = copyDict(first);
  for (const [key, value] of second) {
    const known = merged.get(key);
    if (isDict(known) && isDict(value)) merged.set(key, mergeRecurse(known, value, mergeLists));
    else if (mergeLists && Array.isArray(known) && Array.isArray(value))
      merged.set(key, joinLists(known, value));
    else merged.set(key, value);
  }
  return merged;
};

const joinLists = (first: readonly Data[], second: readonly Data[]): Data[] => {
  const seen = new Set(first.map(canonical));
  const fresh = second.filter(item => {
    const text = canonical(item);
    const isNew = !seen.has(text);
    seen.add(text);
    return isNew;
  });
  return [...first, ...fresh];
};
