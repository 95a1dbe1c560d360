import { type Data, type DataKey, type Dict, isDict } from '../../data/values/value.ts';
import { type FilterTable, listOf, toFilterString } from './filter.ts';

type Change = (old: Data | undefined, value: Data, path: string) => Data;

/**
 * Filters that set a value inside a dict, at a path such as `a:b`. As in Salt, they change their
 * dict and return it.
 */
export const dictFilters: FilterTable = {
  set_dict_key_value: changing((_, value) => value),
  update_dict_key_value: changing((old, value, path) => {
    if (old !== undefined && old !== null && !isDict(old)) throw wrong(path, 'dictionary');
    return new Map([...(old ?? []), ...pairsOf(value)]);
  }),
  append_dict_key_value: changing((old, value, path) => {
    if (old !== undefined && old !== null && !Array.isArray(old)) throw wrong(path, 'list');
    return [...(old ?? []), value];
  }),
  extend_dict_key_value: changing((old, value, path) => {
    if (old !== undefined && old !== null && !Array.isArray(old)) throw wrong(path, 'list');
    const items = listOf(value, 'extend_dict_key_value');
    return [...(old ?? []), ...items];
  }),
};

const pairsOf = (value: Data): [DataKey, Data][] => {
  if (isDict(value)) return [...value];
  if (!Array.isArray(value)) throw new TypeError('update_dict_key_value takes a dictionary');
  return value.map((pair): [DataKey, Data] => {
    const [key, item] = Array.isArray(pair) && pair.length === 2 ? pair : [];
    if (key === undefined || item === undefined || Array.isArray(key) || isDict(key))
      throw new TypeError('update_dict_key_value takes a dictionary or a list of pairs');
    return [key, item];
  });
};

function changing(change: Change): FilterTable[string] {
  return {
    params: ['keys', 'value', 'delimiter?', 'ordered_dict?'],
    changesValue: true,
    run: (data, keys, value = null, delimiter = ':') => {
      if (!isDict(data)) throw new TypeError('the filter takes a dictionary');
      const path = toFilterString(keys).split(toFilterString(delimiter));
      const last = path.pop() ?? '';
      let dict = data;
      for (const key of path) {
        const next = dict.get(key);
        const inner: Dict = next !== undefined && isDict(next) ? next : new Map();
        dict.set(key, inner);
        dict = inner;
      }
      dict.set(last, change(dict.get(last), value, toFilterString(keys)));
      return data;
    },
  };
}

const wrong = (path: string, kind: string): TypeError =>
  new TypeError(`the value at '${path}' is not a ${kind}`);
