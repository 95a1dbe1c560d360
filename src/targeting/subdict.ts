import { fnmatch } from '../data/python/glob.ts';
import { pyStr } from '../data/python/python-text.ts';
import type { Data, DataKey, Dict } from '../data/values/value.ts';
import { isDict } from '../data/values/value.ts';
import { TsaltError } from '../protocol/error.ts';
import { pythonMatch } from './python-regex.ts';

export type MatchKind = 'glob' | 'regex' | 'exact';

/**
 * Whether `os:Debian` or `rack:row:a` matches this data. Every split of the expression into a path
 * and a pattern is tried, the longest path first, ignoring case; `*` as a path means any depth.
 * (salt.utils.data.subdict_match)
 */
export const subdictMatch = (
  data: Data,
  expression: string,
  delimiter: string,
  comparison: MatchKind,
): boolean => {
  const parts = expression.split(delimiter);
  for (let length = parts.length - 1; length > 0; length -= 1) {
    const path = parts.slice(0, length).join(delimiter);
    const everywhere = path === '*';
    const pattern = everywhere ? expression : parts.slice(length).join(delimiter);
    const found = everywhere ? data : descend(data, parts.slice(0, length));
    if (found !== undefined && holds(found, pattern, comparison)) return true;
  }
  return false;
};

const holds = (found: Data, pattern: string, comparison: MatchKind): boolean => {
  if (isDict(found)) return dictHolds(found, pattern, comparison);
  if (!Array.isArray(found)) return equals(found, pattern, comparison);
  return found.some(
    member =>
      (isDict(member) && dictHolds(member, pattern, comparison)) ||
      equals(member, pattern, comparison),
  );
};

const dictHolds = (dict: Dict, expression: string, comparison: MatchKind): boolean => {
  if (dict.size === 0) return false;
  const anyDepth = expression.startsWith('*:');
  const pattern = anyDepth ? expression.slice(2) : expression;
  if (pattern === '*' || dict.has(pattern) || subdictMatch(dict, pattern, ':', comparison))
    return true;
  return anyDepth && [...dict.values()].some(value => below(value, pattern, comparison));
};

const below = (value: Data, pattern: string, comparison: MatchKind): boolean => {
  if (isDict(value)) return dictHolds(value, pattern, comparison);
  if (Array.isArray(value)) return value.some(item => equals(item, pattern, comparison));
  return equals(value, pattern, comparison);
};

const equals = (value: Data, pattern: string, comparison: MatchKind): boolean => {
  const target = pyStr(value).toLowerCase();
  const wanted = pattern.toLowerCase();
  if (comparison === 'exact') return target === wanted;
  return comparison === 'glob' ? fnmatch(target, wanted) : regexHolds(wanted, target);
};

/** An invalid regular expression matches nothing, as in Salt; `complaint` reports it to the user. */
const regexHolds = (pattern: string, target: string): boolean => {
  try {
    return pythonMatch(pattern, target);
  } catch (error) {
    if (error instanceof TsaltError && error.code === 'bad-regex') return false;
    throw error;
  }
};

/** Follows a path through dicts (by key, also by its typed value), and lists (by index or in their dicts). */
const descend = (data: Data, path: readonly string[]): Data | undefined => {
  let here: Data | undefined = data;
  for (const step of path) {
    if (isDict(here)) here = here.has(step) ? here.get(step) : here.get(typedKey(step));
    else if (Array.isArray(here)) here = inList(here, step);
    else return undefined;
    if (here === undefined) return undefined;
  }
  return isDict(here) && here.size === 0 ? undefined : here;
};

const inList = (list: readonly Data[], step: string): Data | undefined => {
  const index = /^[+-]?\d+$/.test(step.trim()) ? Number(step) : undefined;
  const key: DataKey = index ?? step;
  const holder = list.find(item => isDict(item) && item.has(key));
  if (isDict(holder)) return holder.get(key);
  return index === undefined ? undefined : list.at(index);
};

/** Converts a key as YAML does: `8080` is an int, `true` a boolean. */
const typedKey = (text: string): DataKey => {
  if (/^[+-]?\d+$/.test(text)) return Number(text);
  if (/^[+-]?\d+\.\d+$/.test(text)) return Number(text);
  if (/^(true|yes|on)$/i.test(text)) return true;
  if (/^(false|no|off)$/i.test(text)) return false;
  return /^(null|~)$/i.test(text) ? null : text;
};
