import { raise } from '../jinja-error.ts';
import { equal, isTruthy, sortValues } from '../values/compare.ts';
import { contains, itemsOf, needRoom } from '../values/iterate.ts';
import { wholeNumber } from '../values/number.ts';
import { reprOf, typeName } from '../values/text.ts';
import { PySet } from '../values/things.ts';
import { Thing, type Tuple, type Value } from '../values/value.ts';
import { type Method, methods } from './method.ts';

const indexOf = (list: Value[], wanted: Value, start: Value = 0, stop: Value = null): number => {
  const from = place(list, start);
  const to = stop === null ? list.length : place(list, stop);
  for (let at = from; at < Math.min(to, list.length); at += 1)
    if (equal(list[at] ?? null, wanted)) return at;
  return -1;
};

const place = (list: Value[], index: Value): number => {
  const at = wholeNumber(index);
  if (at === undefined)
    return raise(`'${typeName(index)}' object cannot be interpreted as an integer`);
  return at < 0 ? Math.max(0, list.length + at) : at;
};

const findTable = {
  index: [
    ['value', 'start?', 'stop?'],
    (list: Value[], [value = null, start, stop]: (Value | undefined)[]) => {
      const at = indexOf(list, value, start, stop);
      return at < 0 ? raise(`${reprOf(value)} is not in list`) : at;
    },
  ],
  count: [
    ['value'],
    (list: Value[], [value = null]: (Value | undefined)[]) =>
      list.filter(item => equal(item, value)).length,
  ],
} as const;

export const tupleMethods: ReadonlyMap<string, Method<Tuple>> = methods<Tuple>('tuple', findTable);

const changed = (list: Value[]): null => {
  needRoom(list.length);
  return null;
};

export const listMethods: ReadonlyMap<string, Method<Value[]>> = methods<Value[]>('list', {
  ...findTable,
  append: [
    ['object'],
    (list, [item = null]) => {
      list.push(item);
      return changed(list);
    },
  ],
  extend: [
    ['iterable'],
    (list, [items = null]) => {
      const more = [...itemsOf(items)];
      needRoom(list.length + more.length);
      for (const item of more) list.push(item);
      return null;
    },
  ],
  insert: [
    ['index', 'object'],
    (list, [index = 0, item = null]) => {
      list.splice(place(list, index), 0, item);
      return changed(list);
    },
  ],
  pop: [
    ['index?'],
    (list, [index = -1]) => {
      if (list.length === 0) return raise('pop from empty list');
      const at = wholeNumber(index) ?? raise('an integer is required');
      const from = at < 0 ? at + list.length : at;
      if (from < 0 || from >= list.length) return raise('pop index out of range');
      return list.splice(from, 1)[0] ?? null;
    },
  ],
  remove: [
    ['value'],
    (list, [value = null]) => {
      const at = indexOf(list, value);
      if (at < 0) return raise('list.remove(x): x not in list');
      list.splice(at, 1);
      return null;
    },
  ],
  sort: [
    ['key?', 'reverse?'],
    (list, [key = null, reverse = false]) => {
      if (key !== null) return raise('list.sort() takes no key function in a template');
      const order = sortValues(list, item => item, isTruthy(reverse));
      list.splice(0, list.length, ...order);
      return null;
    },
  ],
  reverse: [
    [],
    list => {
      list.reverse();
      return null;
    },
  ],
  copy: [[], list => [...list]],
  clear: [
    [],
    list => {
      list.length = 0;
      return null;
    },
  ],
});

const setOf = (items: Value[]): PySet => {
  const unique: Value[] = [];
  for (const item of items) if (!unique.some(known => equal(known, item))) unique.push(item);
  return new PySet(unique);
};

/** Methods of sets. */
export const setMethods: ReadonlyMap<string, Method<PySet>> = methods<PySet>('set', {
  union: [['other'], (set, [other = null]) => setOf([...set.items(), ...itemsOf(other)])],
  intersection: [
    ['other'],
    (set, [other = null]) => new PySet(set.items().filter(item => contains(asList(other), item))),
  ],
  difference: [
    ['other'],
    (set, [other = null]) => new PySet(set.items().filter(item => !contains(asList(other), item))),
  ],
  add: [
    ['element'],
    (set, [item = null]) => {
      if (!contains(set, item)) set.items().push(item);
      return changed(set.items());
    },
  ],
  copy: [[], set => new PySet([...set.items()])],
});

const asList = (value: Value): Value =>
  typeof value === 'string' || value instanceof Thing ? itemsOf(value) : value;
