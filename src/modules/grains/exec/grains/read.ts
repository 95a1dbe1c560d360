/**
 * Reads the grains of the host, including custom grains.
 *
 * @platform all
 */

import { fnmatch } from '../../../../data/python/glob.ts';
import { mergeRecursive } from '../../../../data/values/merge.ts';
import { toDict, toPlain } from '../../../../data/values/value.ts';
import { isPlainDict, setOwn } from '../../../../protocol/plain.ts';
import { plainStr } from '../../../_shared/text/python-text.ts';
import { type Plain, type PlainDict, SaltInvocationError } from '../../../api.ts';
import { allGrains, grainAt } from '../../grain-at.ts';

/**
 * Returns a grain's value. A path selects nested grains: `selinux:enforced`.
 *
 * @param key the grain
 * @param default_ the value to return if the grain does not exist (keyword `default`)
 * @param delimiter the separator of the path
 * @param ordered accepted for compatibility with Salt: grains always keep their order
 * @example tsalt-ssh '*' grains.get selinux:enforced
 */
export const get = async (
  key: string,
  default_: Plain = '',
  options: { delimiter?: string; ordered?: boolean; default?: Plain } = {},
): Promise<Plain> => {
  const found = grainAt(key, options.delimiter ?? ':');
  return found === undefined ? (options.default ?? default_) : found;
};

/**
 * Whether a grain has a value that is true.
 *
 * @param key the grain
 * @example tsalt-ssh '*' grains.has_value virtual_subtype
 */
export const has_value = async (key: string): Promise<boolean> => isTrue(grainAt(key));

const isTrue = (value: Plain | undefined): boolean =>
  typeof value === 'object' && value !== null
    ? Object.keys(value).length > 0
    : Boolean(value ?? false);

/**
 * Returns all grains.
 *
 * @param sanitize true: hide values that identify the machine
 * @example tsalt-ssh '*' grains.items
 */
export const items = async ({
  sanitize = false,
}: {
  sanitize?: boolean;
} = {}): Promise<PlainDict> => {
  const grains = { ...allGrains() };
  if (sanitize) for (const key of private_) if (key in grains) grains[key] = 'MINION';
  return grains;
};

const private_ = [
  'serialnumber',
  'id',
  'uuid',
  'fqdn',
  'host',
  'nodename',
  'localhost',
  'machine_id',
];

/**
 * Returns several grains, by name or path; '' for those that do not exist.
 *
 * @param args names
 * @example tsalt-ssh '*' grains.item os osrelease
 */
export const item = async (...args: string[]): Promise<PlainDict> => {
  const found: PlainDict = {};
  for (const key of args) {
    const value = grainAt(key);
    setOwn(found, key, value === undefined ? '' : value);
  }
  return found;
};

/**
 * Returns the names of all grains.
 *
 * @example tsalt-ssh '*' grains.ls
 */
export const ls = async (): Promise<string[]> => Object.keys(allGrains()).sort();

/**
 * Compares a grain with a value.
 *
 * @param key the grain
 * @param value the value
 * @example tsalt-ssh '*' grains.equals os Debian
 */
export const equals = async (key: string, value: Plain): Promise<boolean> =>
  plainStr(grainAt(key) ?? null) === plainStr(value);

/**
 * Selects a value from a dict by a grain: the first key, used as a glob, that matches the grain's
 * value.
 *
 * @param lookup_dict values by grain value
 * @param grain the grain, `os_family` by default
 * @param merge a dict that is merged into the selected value
 * @param default_ the key to use if none matches (keyword `default`)
 * @param base the key whose value the selected value is merged over
 * @example tsalt-ssh '*' grains.filter_by '{Debian: apache2, RedHat: httpd}'
 */
export const filter_by = async (
  lookup_dict: PlainDict,
  options: {
    grain?: string;
    merge?: PlainDict | null;
    default?: string;
    base?: string | null;
  } = {},
): Promise<Plain> => {
  const value = grainAt(options.grain ?? 'os_family') ?? [];
  const values = (Array.isArray(value) ? value : [value]).map(plainStr);
  const key = values
    .flatMap(one => Object.keys(lookup_dict).find(pattern => fnmatch(one, pattern)) ?? [])
    .at(0);
  const picked = lookup_dict[key ?? options.default ?? 'default'] ?? null;
  const below = options.base ? (lookup_dict[options.base] ?? null) : null;
  const based = below === null ? picked : picked === null ? below : merged(below, picked);
  if (!options.merge) return based;
  if (!isPlainDict(options.merge))
    throw new SaltInvocationError('filter_by merge argument must be a dictionary.');
  return based === null ? options.merge : merged(based, options.merge);
};

const merged = (below: Plain, above: Plain): Plain => {
  if (!isPlainDict(below)) return above;
  if (!isPlainDict(above))
    throw new SaltInvocationError(
      'filter_by default and look-up values must both be dictionaries.',
    );
  return toPlain(mergeRecursive(toDict(below), toDict(above), false));
};

/**
 * Alias of `grains.get`; Salt's name is `grains.fetch`.
 *
 * @example tsalt-ssh '*' grains.fetch os
 */
export const fetch = get;
