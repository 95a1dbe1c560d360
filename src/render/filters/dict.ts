import { cloneData } from '../../data/clone.ts';
import { type Data, type Dict, isDict } from '../../data/value.ts';
import { type FilterTable, textOf } from './filter.ts';

type Change = (old: Data | undefined, value: Data, path: string) => Data;

/** Filters that set something inside of a dict, by a path such as `a:b`; they give a changed copy. */
export const dictFilters: FilterTable = {
  set_dict_key_value: changing((_, value) => value),
  update_dict_key_value: changing((old, value, path) => {
    if (!isDict(value)) throw new TypeError('update_dict_key_value takes a dictionary');
    if (old !== undefined && old !== null && !isDict(old)) throw wrong(path, 'dictionary');
    return new Map([...(old ?? []), ...value]);
  }),
  append_dict_key_value: changing((old, value, path) => {
    if (old !== undefined && old !== null && !Array.isArray(old)) throw wrong(path, 'list');
    return [...(old ?? []), value];
  }),
  extend_dict_key_value: changing((old, value, path) => {
    if (old !== undefined && old !== null && !Array.isArray(old)) throw wrong(path, 'list');
    const items = Array.isArray(value)
      ? value
      : isDict(value)
        ? [...value.keys()]
        : Array.from(textOf(value));
    return [...(old ?? []), ...items];
  }),
};

function changing(change: Change): FilterTable[string] {
  return {
    params: ['keys', 'value', 'delimiter'],
    run: (data, keys, value = null, delimiter = ':') => {
      if (!isDict(data)) throw new TypeError('the filter takes a dictionary');
      const copy = cloneData(data) as Dict;
      const path = textOf(keys).split(textOf(delimiter));
      const last = path.pop() ?? '';
      let dict = copy;
      for (const key of path) {
        const next = dict.get(key);
        if (isDict(next ?? null)) dict = next as Dict;
        else if (next === undefined || next === null) {
          const made: Dict = new Map();
          dict.set(key, made);
          dict = made;
        } else throw wrong(key, 'dictionary');
      }
      dict.set(last, change(dict.get(last), value, textOf(keys)));
      return copy;
    },
  };
}

const wrong = (path: string, kind: string): TypeError =>
  new TypeError(`what stands at '${path}' is no ${kind}`);
