import { dumpJson } from '../../data/json-dump.ts';
import { traverse } from '../../data/traverse.ts';
import { type Data, Float, isDict } from '../../data/value.ts';
import { type FilterTable, isTrue, listOf, textOf } from './filter.ts';
import { searchData } from './jmespath/search.ts';

/** Filters on lists and dicts. */
export const listFilters: FilterTable = {
  unique: { params: [], run: value => unique(listOf(value, 'unique')) },
  min: { params: [], run: value => extreme(listOf(value, 'min'), -1) },
  max: { params: [], run: value => extreme(listOf(value, 'max'), 1) },
  avg: {
    params: [],
    run: value => {
      const list = Array.isArray(value) ? value : [value];
      const mean = list.reduce((sum: number, item) => sum + Number(item), 0) / list.length;
      return Number.isInteger(mean) ? new Float(mean) : mean;
    },
  },
  union: {
    params: ['lst2'],
    run: (a, b) => unique([...listOf(a, 'union'), ...listOf(b, 'union')]),
  },
  intersect: { params: ['lst2'], run: (a, b) => unique(listOf(a, 'intersect').filter(isIn(b))) },
  difference: {
    params: ['lst2'],
    run: (a, b) => unique(listOf(a, 'difference').filter(item => !isIn(b)(item))),
  },
  symmetric_difference: {
    params: ['lst2'],
    run: (a, b) =>
      unique([
        ...listOf(a, 'symmetric_difference').filter(item => !isIn(b)(item)),
        ...listOf(b, 'symmetric_difference').filter(item => !isIn(a)(item)),
      ]),
  },
  flatten: {
    params: ['levels', 'preserve_nulls'],
    run: (value, levels = null, nulls = false) =>
      flatten(
        listOf(value, 'flatten'),
        levels === null ? Number.POSITIVE_INFINITY : Number(levels),
        isTrue(nulls),
      ),
  },
  traverse: {
    params: ['key', 'default', 'delimiter'],
    run: (value, key, otherwise = null, delimiter = ':') => {
      const found = traverse(value, textOf(key), textOf(delimiter));
      return typeof found === 'symbol' ? otherwise : found;
    },
  },
  json_query: { params: ['expr'], run: (value, expr) => searchData(value, textOf(expr)) },
  sorted_ignorecase: {
    params: [],
    run: value =>
      [...listOf(value, 'sorted_ignorecase')].sort((a, b) => {
        const [left, right] = [textOf(a).toLowerCase(), textOf(b).toLowerCase()];
        return left < right ? -1 : left > right ? 1 : 0;
      }),
  },
  substring_in_list: {
    params: ['list_to_search'],
    run: (value, list) =>
      listOf(list, 'substring_in_list').some(item => textOf(item).includes(textOf(value))),
  },
  is_list: { params: [], run: value => Array.isArray(value) },
  is_iter: { params: [], run: value => Array.isArray(value) || isDict(value) },
  sequence: {
    params: [],
    run: value => (Array.isArray(value) || isDict(value) ? value : [value]),
  },
  exactly_one_true: {
    params: [],
    run: value => listOf(value, 'exactly_one_true').filter(isTrue).length === 1,
  },
  exactly_n_true: {
    params: ['amount'],
    run: (value, amount = 1) =>
      listOf(value, 'exactly_n_true').filter(isTrue).length === Number(amount),
  },
  skip: { params: [], run: () => null },
  compare_lists: {
    params: ['new'],
    run: (old, fresh) => {
      const added = listOf(fresh, 'compare_lists').filter(item => !isIn(old)(item));
      const removed = listOf(old, 'compare_lists').filter(item => !isIn(fresh)(item));
      return new Map<string, Data>([
        ...(added.length > 0 ? [['new', added] as const] : []),
        ...(removed.length > 0 ? [['old', removed] as const] : []),
      ]);
    },
  },
  compare_dicts: {
    params: ['new'],
    run: (old, fresh) => {
      if (!isDict(old) || !isDict(fresh ?? null))
        throw new TypeError('compare_dicts takes two dictionaries');
      const after = fresh as typeof old;
      const changes = new Map<string, Data>();
      for (const key of new Set([...old.keys(), ...after.keys()])) {
        const [before, now] = [old.get(key) ?? '', after.get(key) ?? ''];
        if (identity(before) !== identity(now))
          changes.set(
            String(key),
            new Map<string, Data>([
              ['old', before],
              ['new', now],
            ]),
          );
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

const unique = (list: readonly Data[]): Data[] => {
  const seen = new Set<string>();
  return list.filter(item => {
    const key = identity(item);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
};

const extreme = (list: readonly Data[], sign: number): Data => {
  const [first, ...rest] = list;
  if (first === undefined) throw new TypeError('the list is empty');
  return rest.reduce(
    (best, item) => ((item ?? 0) > (best ?? 0) === sign > 0 && item !== best ? item : best),
    first,
  );
};

const flatten = (list: readonly Data[], levels: number, nulls: boolean): Data[] =>
  list
    .filter(item => nulls || item !== null)
    .flatMap(item =>
      Array.isArray(item) && levels > 0 ? flatten(item, levels - 1, nulls) : [item],
    );
