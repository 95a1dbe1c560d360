import { fnmatch } from '../../data/python/glob.ts';
import { cloneData } from '../../data/values/clone.ts';
import { mergeRecursive, updateDict } from '../../data/values/merge.ts';
import type { noValue } from '../../data/values/traverse.ts';
import { type Data, type DataKey, type Dict, Float, isDict } from '../../data/values/value.ts';
import { TsaltError } from '../../protocol/error.ts';

/**
 * Selects an entry of `lookup` by a value, as grains.filter_by does: the value (or one of a list of
 * values) is matched against the keys as globs; without a match, `fallback` is used; the entry
 * `base` is merged below the selected one. `merge` is merged over the selected entry itself: as in
 * Salt, `lookup` then contains the result. (salt.utils.data.filter_by)
 *
 * @throws TsaltError `arguments` if a value to be merged is not a dictionary.
 */
export const filterBy = ({
  lookup,
  value,
  merge,
  fallback,
  base,
}: {
  lookup: Data;
  value: Data | typeof noValue;
  merge: Data;
  fallback: Data;
  base: Data;
}): Data => {
  if (!isDict(lookup))
    throw new TsaltError('arguments', 'filter_by needs a dictionary to pick from.');
  const picked = over(lookup, base, pick(lookup, value, fallback));
  if (isEmpty(merge)) return picked;
  if (!isDict(merge))
    throw new TsaltError('arguments', 'filter_by merge argument must be a dictionary.');
  if (picked === null) return merge;
  if (!isDict(picked))
    throw new TsaltError('arguments', 'filter_by can only merge into a dictionary.');
  return updateDict(picked, cloneData(merge) as Dict, false);
};

/** Merges the selected entry over the entry `base`, if any. */
const over = (lookup: Dict, base: Data, picked: Data): Data => {
  const below = isEmpty(base) ? undefined : lookup.get(base as DataKey);
  if (below === undefined) return picked;
  if (picked === null) return below;
  if (!isDict(below)) return picked;
  if (isDict(picked)) return mergeRecursive(below, picked, false);
  throw new TsaltError(
    'arguments',
    'filter_by default and look-up values must both be dictionaries.',
  );
};

/** Python's emptiness: a formula passes `''` if pillar has nothing to merge. */
const isEmpty = (value: Data): boolean =>
  value === null ||
  value === '' ||
  value === false ||
  value === 0 ||
  (value instanceof Float && value.value === 0) ||
  (Array.isArray(value) && value.length === 0) ||
  (isDict(value) && value.size === 0);

const pick = (lookup: Dict, value: Data | typeof noValue, fallback: Data): Data => {
  const wanted = typeof value === 'symbol' ? [] : Array.isArray(value) ? value : [value];
  for (const item of wanted) {
    const key = [...lookup.keys()].find(candidate => fnmatch(textOf(item), textOf(candidate)));
    const value = key === undefined ? null : (lookup.get(key) ?? null);
    if (value !== null) return value;
  }
  return lookup.get(fallback as DataKey) ?? null;
};

/** Converts a value as Python's `str` does, for the comparison with the dictionary's keys. */
const textOf = (item: Data): string =>
  item === null ? 'None' : item === true ? 'True' : item === false ? 'False' : String(item);
