import { isPlainDict, setOwn } from '../../../../protocol/plain.ts';
import { plainRepr, plainStr } from '../../../_shared/text/python-text.ts';
import { __opts__, type Plain, type PlainDict, SaltInvocationError } from '../../../api.ts';
import { allGrains, grainAt } from '../../grain-at.ts';
import { readGrainsFile, writeGrainsFile } from '../../grains-file.ts';

/** Functions that change grains return a result like a state. */
type Change = { comment: string; changes: PlainDict; result: boolean };

/**
 * Sets top-level grains in the host's grains file.
 *
 * @param grains values by name
 * @param destructive true: null removes the grain
 * @example tsalt-ssh '*' grains.setvals '{roles: [web], rack: 7}'
 */
export const setvals = async (
  grains: PlainDict,
  { destructive = false }: { destructive?: boolean; refresh_pillar?: boolean } = {},
): Promise<PlainDict> => {
  if (!isPlainDict(grains)) throw new SaltInvocationError('setvals grains must be a dictionary.');
  const file = await readGrainsFile();
  for (const [key, value] of Object.entries(grains))
    for (const dict of [file, allGrains()])
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
 * @param destructive true: null removes the grain
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
 * @param convert true: turn a grain that is not a list into a list
 * @param delimiter the separator of the path
 * @example tsalt-ssh '*' grains.append roles web
 */
export const append = async (
  key: string,
  val: Plain,
  { convert = false, delimiter = ':' }: { convert?: boolean; delimiter?: string } = {},
): Promise<PlainDict | string> => {
  const now = grainAt(key, delimiter) ?? [];
  const list = Array.isArray(now) ? now : convert ? [now] : undefined;
  if (!list) return `The key ${key} is not a valid list`;
  if (includes(list, val)) return `The val ${plainStr(val)} was already in the list ${key}`;
  return store(key, [...list, ...(Array.isArray(val) ? val : [val])], delimiter);
};

/**
 * Removes a value from a list grain.
 *
 * @param key the grain
 * @param val the value
 * @param delimiter the separator of the path
 * @example tsalt-ssh '*' grains.remove roles web
 */
export const remove = async (
  key: string,
  val: Plain,
  { delimiter = ':' }: { delimiter?: string } = {},
): Promise<PlainDict | string> => {
  const now = grainAt(key, delimiter) ?? [];
  if (!Array.isArray(now)) return `The key ${key} is not a valid list`;
  const at = now.findIndex(one => plainRepr(one) === plainRepr(val));
  if (at === -1) return `The val ${plainStr(val)} was not in the list ${key}`;
  return store(key, now.toSpliced(at, 1), delimiter);
};

const includes = (list: readonly Plain[], value: Plain): boolean =>
  list.some(one => plainRepr(one) === plainRepr(value));

/**
 * Sets a value in a list: in the item of this name or the dict with this key, else in a new dict at
 * the end.
 */
const inList = (
  list: readonly Plain[],
  name: string,
  made: (now: Plain | undefined) => Plain,
): Plain[] => {
  const has = (item: Plain): boolean =>
    item === name || (isPlainDict(item) && Object.hasOwn(item, name));
  if (!list.some(has)) return [...list, { [name]: made(undefined) }];
  return list.map(item =>
    isPlainDict(item) && has(item)
      ? { ...item, [name]: made(item[name]) }
      : has(item)
        ? { [name]: made(undefined) }
        : item,
  );
};

/** Sets a value at a path; other values are kept. */
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
    if (Array.isArray(now)) return inList(now, first, item => below(item, rest));
    const dict: PlainDict = isPlainDict(now) ? { ...now } : {};
    if (rest.length === 0 && value === null && destructive) delete dict[first];
    else setOwn(dict, first, below(dict[first], rest));
    return dict;
  };
  return setval(top, below(allGrains()[top], path), { destructive });
};

/**
 * Sets a grain, nested ones too, in the host's grains file.
 *
 * @param key the grain or path
 * @param val its value
 * @param force true: a dict or list may be replaced
 * @param destructive true: null removes the grain
 * @param delimiter the separator of the path
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
  const now = grainAt(key, delimiter);
  const refuse = (comment: string): Change => ({ comment, changes: {}, result: false });
  if (now !== undefined && plainRepr(now) === plainRepr(val) && !(val === null && destructive))
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
    const value = grainAt(above, delimiter);
    if (value !== undefined && value !== null && !isComplex(value) && value !== parts[length])
      return refuse(
        `The key '${above}' value is '${plainStr(value)}', which is different from the provided key '${parts[length]}'. Use 'force=True' to overwrite.`,
      );
  }
  if (__opts__.test) return { comment: `Grain ${key} would be set`, changes: {}, result: true };
  return { comment: '', changes: await store(key, val, delimiter, destructive), result: true };
};

/**
 * Sets a grain to null.
 *
 * @param key the grain or path
 * @param destructive true: remove the grain
 * @param force true: a dict or list may be removed
 * @example tsalt-ssh '*' grains.delval roles
 */
export const delval = async (
  key: string,
  { destructive = false, force = false }: { destructive?: boolean; force?: boolean } = {},
): Promise<Change> => set(key, null, { destructive, force });

/**
 * Removes a grain.
 *
 * @param key the grain or path
 * @param force true: a dict or list may be removed
 * @example tsalt-ssh '*' grains.delkey roles
 */
export const delkey = async (
  key: string,
  { force = false }: { force?: boolean } = {},
): Promise<Change> => set(key, null, { destructive: true, force });
