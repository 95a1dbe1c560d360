/**
 * What is known of the host, and the values that are set for it.
 *
 * @platform all
 */
import { mergeRecursive } from '../../data/merge.ts';
import { missing, traverse } from '../../data/traverse.ts';
import { setOwn, toDict, toPlain } from '../../data/value.ts';
import { isPlainDict } from '../../protocol/plain.ts';
import { __grains__, __opts__, type Plain, type PlainDict, SaltInvocationError } from '../api.ts';
import { fnmatch } from '../lib/glob-match.ts';
import { readGrainsFile, writeGrainsFile } from '../lib/grains-file.ts';
import { pyRepr, pyStr } from '../lib/python-text.ts';

/** A function that changes grains answers as a state does. */
type Change = { comment: string; changes: PlainDict; result: boolean };

const all = (): PlainDict => __grains__ as PlainDict;

const lookup = (key: string, delimiter = ':'): Plain | undefined => {
  const found = traverse(toDict(all()), key, delimiter);
  return found === missing ? undefined : toPlain(found);
};

/**
 * A grain's value; a path goes into nested grains: `selinux:enforced`.
 *
 * @param key the grain
 * @param default_ what to give when there is no such grain (keyword `default`)
 * @param delimiter what separates the parts of the path
 * @param ordered taken for Salt's sake: grains keep their order
 * @example tsalt-ssh '*' grains.get selinux:enforced
 */
export const get = async (
  key: string,
  default_: Plain = '',
  options: { delimiter?: string; ordered?: boolean; default?: Plain } = {},
): Promise<Plain> => lookup(key, options.delimiter ?? ':') ?? options.default ?? default_;

/**
 * Whether a grain has a value that is true.
 *
 * @param key the grain
 * @example tsalt-ssh '*' grains.has_value virtual_subtype
 */
export const has_value = async (key: string): Promise<boolean> => isTrue(lookup(key));

const isTrue = (value: Plain | undefined): boolean =>
  typeof value === 'object' && value !== null
    ? Object.keys(value).length > 0
    : Boolean(value ?? false);

/**
 * All grains.
 *
 * @param sanitize true: hide what tells one machine from another
 * @example tsalt-ssh '*' grains.items
 */
export const items = async ({
  sanitize = false,
}: {
  sanitize?: boolean;
} = {}): Promise<PlainDict> => {
  const grains = { ...all() };
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
 * Some grains, by name or path.
 *
 * @param args names
 * @example tsalt-ssh '*' grains.item os osrelease
 */
export const item = async (...args: string[]): Promise<PlainDict> => {
  const found: PlainDict = {};
  for (const key of args) {
    const value = lookup(key);
    if (value !== undefined) setOwn(found, key, value);
  }
  return found;
};

/**
 * The names of all grains.
 *
 * @example tsalt-ssh '*' grains.ls
 */
export const ls = async (): Promise<string[]> => Object.keys(all()).sort();

/**
 * Compares a grain with a value.
 *
 * @param key the grain
 * @param value the value
 * @example tsalt-ssh '*' grains.equals os Debian
 */
export const equals = async (key: string, value: Plain): Promise<boolean> =>
  pyStr(lookup(key) ?? null) === pyStr(value);

/**
 * Picks from a dict by a grain: the first key, a glob, that the grain's value matches.
 *
 * @param lookup_dict values by grain value
 * @param grain the grain, `os_family` by default
 * @param merge a dict that is merged into what is picked
 * @param default_ the key to take when none matches (keyword `default`)
 * @param base the key whose value stands below what is picked
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
  const value = lookup(options.grain ?? 'os_family') ?? [];
  const values = (Array.isArray(value) ? value : [value]).map(pyStr);
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
 * Sets top-level grains in the host's grains file.
 *
 * @param grains values by name
 * @param destructive true: a null takes the grain away
 * @example tsalt-ssh '*' grains.setvals '{roles: [web], rack: 7}'
 */
export const setvals = async (
  grains: PlainDict,
  { destructive = false }: { destructive?: boolean; refresh_pillar?: boolean } = {},
): Promise<PlainDict> => {
  if (!isPlainDict(grains)) throw new SaltInvocationError('setvals grains must be a dictionary.');
  const file = await readGrainsFile();
  for (const [key, value] of Object.entries(grains))
    for (const dict of [file, all()])
      if (value === null && destructive) delete dict[key];
      else setOwn(dict, key, value);
  await writeGrainsFile(file);
  return grains;
};

/**
 * Sets a top-level grain in the host's grains file.
 *
 * @param key the grain
 * @param val its value
 * @param destructive true: a null takes the grain away
 * @example tsalt-ssh '*' grains.setval roles '[web]'
 */
export const setval = async (
  key: string,
  val: Plain,
  { destructive = false }: { destructive?: boolean; refresh_pillar?: boolean } = {},
): Promise<PlainDict> => setvals({ [key]: val }, { destructive });

/**
 * Adds values to a list grain.
 *
 * @param key the grain
 * @param val a value, or a list of them
 * @param convert true: a grain that is no list becomes one
 * @param delimiter what separates the parts of the path
 * @example tsalt-ssh '*' grains.append roles web
 */
export const append = async (
  key: string,
  val: Plain,
  { convert = false, delimiter = ':' }: { convert?: boolean; delimiter?: string } = {},
): Promise<PlainDict | string> => {
  const now = lookup(key, delimiter) ?? [];
  const list = Array.isArray(now) ? now : convert ? [now] : undefined;
  if (!list) return `The key ${key} is not a valid list`;
  if (includes(list, val)) return `The val ${pyStr(val)} was already in the list ${key}`;
  return store(key, [...list, ...(Array.isArray(val) ? val : [val])], delimiter);
};

/**
 * Takes a value out of a list grain.
 *
 * @param key the grain
 * @param val the value
 * @param delimiter what separates the parts of the path
 * @example tsalt-ssh '*' grains.remove roles web
 */
export const remove = async (
  key: string,
  val: Plain,
  { delimiter = ':' }: { delimiter?: string } = {},
): Promise<PlainDict | string> => {
  const now = lookup(key, delimiter) ?? [];
  if (!Array.isArray(now)) return `The key ${key} is not a valid list`;
  const at = now.findIndex(one => pyRepr(one) === pyRepr(val));
  if (at === -1) return `The val ${pyStr(val)} was not in the list ${key}`;
  return store(key, now.toSpliced(at, 1), delimiter);
};

const includes = (list: readonly Plain[], value: Plain): boolean =>
  list.some(one => pyRepr(one) === pyRepr(value));

/** Puts a value at a path, keeping what is beside it. */
const store = async (
  key: string,
  value: Plain,
  delimiter: string,
  destructive = false,
): Promise<PlainDict> => {
  const [top = key, ...path] = key.split(delimiter);
  const below = (now: Plain | undefined, parts: readonly string[]): Plain => {
    const [first, ...rest] = parts;
    if (first === undefined) return value;
    const dict: PlainDict = isPlainDict(now) ? { ...now } : {};
    if (rest.length === 0 && value === null && destructive) delete dict[first];
    else setOwn(dict, first, below(dict[first], rest));
    return dict;
  };
  return setval(top, below(all()[top], path), { destructive });
};

/**
 * Sets a grain, nested ones too, in the host's grains file.
 *
 * @param key the grain or path
 * @param val its value
 * @param force true: a dict or list may be replaced
 * @param destructive true: a null takes the grain away
 * @param delimiter what separates the parts of the path
 * @example tsalt-ssh '*' grains.set rack:unit 7
 */
export const set = async (
  key: string,
  val: Plain = '',
  {
    force = false,
    destructive = false,
    delimiter = ':',
  }: { force?: boolean; destructive?: boolean; delimiter?: string } = {},
): Promise<Change> => {
  const now = lookup(key, delimiter);
  const refuse = (comment: string): Change => ({ comment, changes: {}, result: false });
  if (now !== undefined && pyRepr(now) === pyRepr(val) && !(val === null && destructive))
    return { comment: 'Grain is already set', changes: {}, result: true };
  const isComplex = (value: Plain | undefined): boolean =>
    typeof value === 'object' && value !== null;
  if (now !== undefined && now !== null && !force) {
    if (isComplex(now))
      return refuse(
        `The key '${key}' exists but is a dict or a list. Use 'force=True' to overwrite.`,
      );
    if (isComplex(val))
      return refuse(
        `The key '${key}' exists and the given value is a dict or a list. Use 'force=True' to overwrite.`,
      );
  }
  const parts = key.split(delimiter);
  for (let length = 1; length < parts.length && !force; length += 1) {
    const above = parts.slice(0, length).join(delimiter);
    const value = lookup(above, delimiter);
    if (value !== undefined && value !== null && !isComplex(value) && value !== parts[length])
      return refuse(
        `The key '${above}' value is '${pyStr(value)}', which is different from the provided key '${parts[length]}'. Use 'force=True' to overwrite.`,
      );
  }
  if (__opts__.test) return { comment: `Grain ${key} would be set`, changes: {}, result: true };
  return { comment: '', changes: await store(key, val, delimiter, destructive), result: true };
};

/**
 * Empties a grain: its value becomes null.
 *
 * @param key the grain or path
 * @param destructive true: take it away altogether
 * @param force true: a dict or list may be removed
 * @example tsalt-ssh '*' grains.delval roles
 */
export const delval = async (
  key: string,
  { destructive = false, force = false }: { destructive?: boolean; force?: boolean } = {},
): Promise<Change> => set(key, null, { destructive, force });

/**
 * Takes a grain away.
 *
 * @param key the grain or path
 * @param force true: a dict or list may be removed
 * @example tsalt-ssh '*' grains.delkey roles
 */
export const delkey = async (
  key: string,
  { force = false }: { force?: boolean } = {},
): Promise<Change> => set(key, null, { destructive: true, force });

/**
 * The grain as it is called here when it is asked for by another name: Salt's `grains.fetch`.
 *
 * @param key the grain
 * @example tsalt-ssh '*' grains.fetch os
 */
export const fetch = get;
