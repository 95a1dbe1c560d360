import { findKey } from './key.ts';
import { type Data, type Dict, isDict } from './value.ts';

/** Stands for "nothing there", which is not the same as null. */
export const missing: unique symbol = Symbol('missing');

/**
 * The value at a path such as `nginx:vhosts:0:name`: dictionaries by key, lists by index, and
 * through a list of dictionaries by the first that has the key. An empty path is the data
 * itself. Keys written as numbers are found too. (salt.utils.data.traverse_dict_and_list)
 */
export const traverse = (data: Data, path: string, delimiter = ':'): Data | typeof missing => {
  if (path === '') return data;
  let at: Data | typeof missing = data;
  for (const part of delimiter === '' ? [path] : path.split(delimiter)) {
    at = step(at, part);
    if (at === missing) return missing;
  }
  return at;
};

const step = (data: Data, part: string): Data | typeof missing => {
  if (isDict(data)) return inDict(data, part);
  if (!Array.isArray(data)) return missing;
  for (const item of data) {
    const found = isDict(item) ? inDict(item, part) : missing;
    if (found !== missing) return found;
  }
  const item = /^-?\d+$/.test(part) ? data.at(Number(part)) : undefined;
  return item === undefined ? missing : item;
};

const inDict = (dict: Dict, part: string): Data | typeof missing => {
  const direct = dict.get(part);
  if (direct !== undefined) return direct;
  if (!/^-?\d+$/.test(part)) return missing;
  const key = findKey(dict, Number(part));
  return key === undefined || typeof key === 'boolean' ? missing : (dict.get(key) ?? null);
};
