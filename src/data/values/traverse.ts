import { findKey } from './key.ts';
import { type Data, type DataKey, type Dict, Float, isDict } from './value.ts';

/** Marks a missing value, which differs from null. */
export const noValue: unique symbol = Symbol('missing');

/**
 * Returns the value at a path such as `nginx:vhosts:0:name`: dictionaries by key, lists by index,
 * and lists of dictionaries by the first one with the key (there, a number is an index). Keys that
 * are numbers or booleans are found too. (salt.utils.data.traverse_dict_and_list)
 */
export const traverse = (data: Data, path: string, delimiter = ':'): Data | typeof noValue => {
  let at: Data | typeof noValue = data;
  for (const part of delimiter === '' ? [path] : path.split(delimiter)) {
    at = step(at, part);
    if (at === noValue) return noValue;
  }
  return at;
};

const step = (data: Data, part: string): Data | typeof noValue => {
  if (isDict(data)) return inDict(data, part);
  if (!Array.isArray(data)) return noValue;
  const index = /^\s*[-+]?\d+\s*$/.test(part) ? Number(part) : undefined;
  for (const item of data) {
    const found = isDict(item) ? item.get(index ?? part) : undefined;
    if (found !== undefined) return found;
  }
  const item = index === undefined ? undefined : data.at(index);
  return item === undefined ? noValue : item;
};

const inDict = (dict: Dict, part: string): Data | typeof noValue => {
  const direct = dict.get(part);
  if (direct !== undefined) return direct;
  const other = typed(part);
  const key = other === undefined ? undefined : findKey(dict, other);
  return key === undefined ? noValue : (dict.get(key) ?? null);
};

/** Parses a part of a path as YAML: `7.4` may be a key that is a number. */
const typed = (part: string): DataKey | undefined => {
  if (/^[-+]?(?:0|[1-9]\d*)$/.test(part)) return Number(part);
  if (/^[-+]?\d+\.\d+$/.test(part))
    return Number.isInteger(Number(part)) ? new Float(Number(part)) : Number(part);
  if (/^(?:true|yes|on)$/i.test(part)) return true;
  return /^(?:false|no|off)$/i.test(part) ? false : undefined;
};
