import { noValue, traverse } from '../../data/values/traverse.ts';
import { toDict, toPlain } from '../../data/values/value.ts';
import { __grains__, type Plain, type PlainDict } from '../api.ts';

/** Returns all grains of the host. */
export const allGrains = (): PlainDict => __grains__ as PlainDict;

/** Returns a grain by its path; undefined if it does not exist. */
export const grainAt = (key: string, delimiter = ':'): Plain | undefined => {
  const found = traverse(toDict(allGrains()), key, delimiter);
  return found === noValue ? undefined : toPlain(found);
};
