import { pathGetter } from '../access.ts';
import { after, type Eventual, eachInOrder, mapInOrder } from '../after.ts';
import { raise } from '../jinja-error.ts';
import type { Operation, Operations, Run } from '../run/run.ts';
import { isTruthy } from '../values/compare.ts';
import { itemsOf } from '../values/iterate.ts';
import { quoted } from '../values/text.ts';
import { Iterator } from '../values/things.ts';
import { Undefined } from '../values/undefined.ts';
import type { Args, Value } from '../values/value.ts';

/** `map`: applies a filter to each item, or reads an attribute of each. */
const map: Operation = (value, { list, named }, run) => {
  const [name, ...rest] = list;
  if (list.length === 0 && named.has('attribute')) {
    const { attribute = null, default: otherwise, ...wrong } = Object.fromEntries(named);
    for (const key of Object.keys(wrong)) raise(`Unexpected keyword argument ${quoted(key)}`);
    const get = pathGetter(attribute, run, otherwise);
    return generator('sync_do_map', items(value, run).map(get));
  }
  if (typeof name !== 'string') return raise('map requires a filter argument');
  const filter = run.filter(name);
  const made = mapInOrder(items(value, run), item => filter(item, { list: rest, named }, run));
  return after(made, all => generator('sync_do_map', all));
};

const items = (value: Value, run: Run): Value[] => {
  if (value === null || (value instanceof Undefined && !value.isStrict)) return [];
  const list = itemsOf(value);
  run.step(list.length);
  return list;
};

const generator = (name: string, list: Value[]): Iterator => new Iterator('generator', list, name);

/** `select`, `reject` and their siblings for attributes. */
const selector =
  (name: string, wanted: boolean, byAttribute: boolean): Operation =>
  (value, { list, named }, run) => {
    const [path = null, ...rest] = byAttribute ? list : [null, ...list];
    if (byAttribute && list.length === 0) return raise('Missing parameter for attribute name');
    const get = byAttribute ? pathGetter(path, run) : (item: Value) => item;
    const test = predicate(rest, named, run);
    const kept: Value[] = [];
    const done = eachInOrder<Value, never>(items(value, run), item =>
      after(test(get(item)), holds => {
        if (isTruthy(holds) === wanted) kept.push(item);
        return undefined;
      }),
    );
    return after(done, () => generator(name, kept));
  };

const predicate = (
  [name, ...rest]: readonly Value[],
  named: Args['named'],
  run: Run,
): ((item: Value) => Eventual<Value>) => {
  if (name === undefined) return item => item;
  const test = run.test(String(name));
  return item => test(item, { list: rest, named }, run);
};

/** Jinja's filters that use other filters and tests. */
export const selectFilters: Operations = new Map<string, Operation>([
  ['map', map],
  ['select', selector('select_or_reject', true, false)],
  ['reject', selector('select_or_reject', false, false)],
  ['selectattr', selector('select_or_reject', true, true)],
  ['rejectattr', selector('select_or_reject', false, true)],
]);
