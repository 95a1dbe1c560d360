import { mergeRecursive } from '../../data/merge.ts';
import type { missing } from '../../data/traverse.ts';
import { type Data, type DataKey, type Dict, isDict } from '../../data/value.ts';
import { TsaltError } from '../../protocol/error.ts';
import { fnmatch } from '../../targeting/glob.ts';

/**
 * Picks an entry of `lookup` by a value, as grains.filter_by does: the value (or one of a list
 * of values) is matched against the keys as a glob; no match takes `fallback`; `base` lies
 * below the pick and `merge` above it.
 */
export const filterBy = ({
  lookup,
  value,
  merge,
  fallback,
  base,
}: {
  lookup: Data;
  value: Data | typeof missing;
  merge: Data;
  fallback: Data;
  base: Data;
}): Data => {
  if (!isDict(lookup))
    throw new TsaltError('arguments', 'filter_by needs a dictionary to pick from.');
  let picked = pick(lookup, value, fallback);
  if (truthy(base)) {
    const below = lookup.get(base as DataKey);
    picked = isDict(below)
      ? mergeRecursive(below, isDict(picked) ? picked : new Map(), false)
      : picked;
  }
  if (merge === null || (isDict(merge) && merge.size === 0)) return picked;
  if (!isDict(merge))
    throw new TsaltError('arguments', 'filter_by merge argument must be a dictionary.');
  return isDict(picked) ? mergeRecursive(picked, merge, false) : merge;
};

const truthy = (value: Data): boolean => value !== null && value !== '' && value !== false;

const pick = (lookup: Dict, value: Data | typeof missing, fallback: Data): Data => {
  const wanted = typeof value === 'symbol' ? [] : Array.isArray(value) ? value : [value];
  for (const item of wanted) {
    const key = [...lookup.keys()].find(candidate => fnmatch(textOf(item), String(candidate)));
    const value = key === undefined ? null : (lookup.get(key) ?? null);
    if (value !== null) return value;
  }
  return lookup.get(fallback as DataKey) ?? null;
};

/** A value as Python's `str` writes it: keys of the dictionary are compared with that. */
const textOf = (item: Data): string =>
  item === null ? 'None' : item === true ? 'True' : item === false ? 'False' : String(item);
