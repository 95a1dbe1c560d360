import { compareKeys, dumpJson } from '../../data/formats/json-dump.ts';
import { traverse } from '../../data/values/traverse.ts';
import { type Data, type DataKey, type Dict, Float, isDict } from '../../data/values/value.ts';
import { type FilterTable, isTrueData, listOf, toFilterString } from './filter.ts';
import { searchData } from './jmespath/search.ts';
import { toNumber } from './number.ts';
import { requireString, scalarText } from './python-text.ts';

/** Filters on lists and dicts. */
export const listFilters: FilterTable = {
  unique: { params: [], run: value => unique(listOf(value, 'unique')) },
  min: { params: [], run: value => extreme(listOf(value, 'min'), -1) },
  max: { params: [], run: value => extreme(listOf(value, 'max'), 1) },
  avg: { params: [], run: average },
  union: {
    params: ['lst2'],
    run: (a, b) => unique([...sequenceOf(a, 'union'), ...sequenceOf(b, 'union')]),
  },
  intersect: { params: ['lst2'], run: (a, b) => unique(listOf(a, 'intersect').filter(isIn(b))) },
  difference: {
    params: ['lst2'],
    run: (a, b) => unique(listOf(a, 'difference').filter(isNotIn(b))),
  },
  symmetric_difference: {
    params: ['lst2'],
    run: (a, b) =>
      unique([
        ...sequenceOf(a, 'symmetric_difference').filter(isNotIn(b)),
        ...sequenceOf(b, 'symmetric_difference').filter(isNotIn(a)),
      ]),
  },
  flatten: {
    params: ['levels?', 'preserve_nulls?'],
    run: (value, levels = null, nulls = false) =>
      flatten(
        listOf(value, 'flatten'),
        levels === null ? Number.POSITIVE_INFINITY : Number(levels),
        isTrueData(nulls),
      ),
  },
  traverse: {
    params: ['key', 'default?', 'delimiter?'],
    run: (value, key, otherwise = null, delimiter = ':') => {
      const found = traverse(value, toFilterString(key), toFilterString(delimiter));
      return typeof found === 'symbol' ? otherwise : found;
    },
  },
  json_query: { params: ['expr'], run: (value, expr) => searchData(value, toFilterString(expr)) },
  mysql_to_dict: { params: ['key'], run: mysqlTable },
  sorted_ignorecase: {
    params: [],
    run: value =>
      listOf(value, 'sorted_ignorecase')
        .map(item => ({ item, lower: requireString(item, 'sorted_ignorecase').toLowerCase() }))
        .sort((a, b) => compareKeys(a.lower, b.lower))
        .map(({ item }) => item),
  },
  substring_in_list: {
    params: ['list_to_search'],
    run: (value, list) =>
      listOf(list, 'substring_in_list').some(item =>
        requireString(item, 'substring_in_list').includes(
          requireString(value, 'substring_in_list'),
        ),
      ),
  },
  is_list: { params: [], run: value => Array.isArray(value) },
  is_iter: { params: [], run: value => Array.isArray(value) || isDict(value) },
  sequence: {
    params: [],
    run: value => (Array.isArray(value) || isDict(value) ? value : [value]),
  },
  exactly_one_true: {
    params: [],
    run: value => listOf(value, 'exactly_one_true').filter(isTrueData).length === 1,
  },
  exactly_n_true: {
    params: ['amount?'],
    run: (value, amount = 1) =>
      listOf(value, 'exactly_n_true').filter(isTrueData).length === Number(amount),
  },
  skip: { params: [], run: () => '' },
  compare_lists: {
    params: ['new?'],
    run: (old, fresh) => {
      const added = listOf(fresh, 'compare_lists').filter(isNotIn(old));
      const removed = listOf(old, 'compare_lists').filter(isNotIn(fresh));
      return new Map<string, Data>([
        ...(added.length > 0 ? [['new', added] as const] : []),
        ...(removed.length > 0 ? [['old', removed] as const] : []),
      ]);
    },
  },
  compare_dicts: {
    params: ['new?'],
    run: (old, fresh) => {
      if (!isDict(old) || !isDict(fresh ?? null))
        throw new TypeError('compare_dicts takes two dictionaries');
      const after = fresh as typeof old;
      const changes = new Map<DataKey, Data>();
      for (const key of new Set([...old.keys(), ...after.keys()])) {
        const [before, now] = [old.get(key), after.get(key)];
        if (before !== undefined && now !== undefined && identity(before) === identity(now))
          continue;
        const change = new Map<string, Data>([
          ['old', before === undefined ? '' : before],
          ['new', now === undefined ? '' : now],
        ]);
        changes.set(key, before !== undefined && now === undefined ? reversed(change) : change);
      }
      return changes;
    },
  },
};

const identity = (value: Data): string => {
  if (typeof value === 'boolean') return String(Number(value));
  return value instanceof Float && Number.isInteger(value.value)
    ? String(value.value)
    : dumpJson(value, { sortKeys: true });
};

const isIn = (list: Data | undefined): ((item: Data) => boolean) => {
  const known = new Set(listOf(list, 'list').map(identity));
  return item => known.has(identity(item));
};

const isNotIn = (list: Data | undefined): ((item: Data) => boolean) => {
  let isKnown: ((item: Data) => boolean) | undefined;
  return item => {
    isKnown ??= isIn(list);
    return !isKnown(item);
  };
};

const unique = (list: readonly Data[]): Data[] => {
  const seen = new Set<string>();
  return list.filter(item => {
    const key = identity(item);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
};

/** Salt lists new keys before removed ones. */
const reversed = (dict: ReadonlyMap<string, Data>): Map<string, Data> =>
  new Map([...dict].reverse());

const sequenceOf = (value: Data | undefined, name: string): Data[] => {
  if (value instanceof Map) throw new TypeError(`the filter '${name}' takes lists`);
  return listOf(value, name);
};

const isNumber = (value: Data): boolean =>
  ['number', 'bigint', 'boolean'].includes(typeof value) || value instanceof Float;

const numeric = (value: Data): number => Number(value);

function average(value: Data): Data {
  const list = Array.isArray(value) ? value : [value];
  const numbers = list.map(item => {
    const parsed = isNumber(item) || !Array.isArray(value) ? numeric(item) : Number.NaN;
    if (Number.isNaN(parsed) || item === null)
      throw new TypeError(`avg takes numbers, not ${scalarText(item)}`);
    return parsed;
  });
  if (numbers.length === 0) throw new TypeError('avg takes a list that is not empty');
  const mean = numbers.reduce((sum, item) => sum + item, 0) / numbers.length;
  return Number.isInteger(mean) ? new Float(mean) : mean;
}

/** Compares two values of one type as Python does. */
const order = (a: Data, b: Data): number => {
  if (typeof a === 'string' && typeof b === 'string') return compareKeys(a, b);
  if (isNumber(a) && isNumber(b)) return numeric(a) - numeric(b);
  if (!Array.isArray(a) || !Array.isArray(b))
    throw new TypeError('the items of the list cannot be compared with each other');
  for (let index = 0; index < a.length && index < b.length; index += 1) {
    const [left, right] = [a[index] ?? null, b[index] ?? null];
    if (identity(left) !== identity(right)) return order(left, right);
  }
  return a.length - b.length;
};

const extreme = (list: readonly Data[], sign: number): Data => {
  const [first, ...rest] = list;
  if (first === undefined) throw new TypeError('the list is empty');
  return rest.reduce((best, item) => (sign * order(item, best) > 0 ? item : best), first);
};

/** Returns the items of a value to be flattened: of lists, and the keys of dictionaries. */
const innerItems = (item: Data): readonly Data[] | undefined =>
  Array.isArray(item) ? item : isDict(item) ? [...item.keys()] : undefined;

const flatten = (list: readonly Data[], levels: number, nulls: boolean): Data[] =>
  list
    .filter(item => nulls || (item !== null && item !== 'None' && item !== 'null'))
    .flatMap(item => {
      const inner = levels > 0 ? innerItems(item) : undefined;
      return inner ? flatten(inner, levels - 1, nulls) : [item];
    });

/** Returns rows of the output of `mysql`, selected by one of their columns. */
function mysqlTable(value: Data, key: Data | undefined): Data {
  const rows = new Map<DataKey, Data>();
  let headers: string[] | undefined;
  for (const line of listOf(value, 'mysql_to_dict')) {
    const text = requireString(line, 'mysql_to_dict');
    if (text === '' || text.startsWith('+')) continue;
    const cells = text.split('|').map(cell => cell.trim());
    if (!headers) {
      headers = cells.length > 1 ? cells : undefined;
      continue;
    }
    const row: Dict = new Map();
    headers.slice(1, -1).forEach((header, index) => {
      row.set(header, toNumber(cells[index + 1] ?? ''));
    });
    const name = row.get(toFilterString(key));
    if (name === undefined || Array.isArray(name) || isDict(name))
      throw new TypeError(`mysql_to_dict: there is no column '${toFilterString(key)}'`);
    rows.set(name, row);
  }
  return rows;
}
