import { randomInt } from '../../nondeterminism.ts';
import { memberOf, pathGetter, pathsGetter } from '../access.ts';
import { raise, raiseRuntime } from '../jinja-error.ts';
import type { Operation, Operations, Run } from '../run/run.ts';
import { compare, equal, identity, isTruthy, sortValues } from '../values/compare.ts';
import { itemAt, itemsOf, lengthOf, longestList, needRoom } from '../values/iterate.ts';
import { wholeNumber } from '../values/number.ts';
import { binary } from '../values/operators.ts';
import { orElse } from '../values/or-else.ts';
import { textOf, typeName } from '../values/text.ts';
import { Iterator } from '../values/things.ts';
import { Undefined } from '../values/undefined.ts';
import { isMap, NamedTuple, Thing, Tuple, tuple, type Value } from '../values/value.ts';
import { operations } from './define.ts';

const folded = (value: Value, isExact: boolean): Value =>
  !isExact && typeof value === 'string' ? value.toLowerCase() : value;

const counted = (value: Value, run: Run): Value[] => {
  const items = itemsOf(value);
  run.step(items.length);
  return items;
};

const whole = (value: Value | undefined, otherwise: number): number =>
  value === undefined || value === null
    ? otherwise
    : (wholeNumber(value) ??
      raise(`'${typeName(value)}' object cannot be interpreted as an integer`));

const dictSort: Operation = (value, args, run) => {
  const [isExact = false, by = 'key', reverse = false] = [...args.list];
  if (!isMap(value)) {
    if (value instanceof Undefined) value.raise();
    return raise(`'${typeName(value)}' object has no attribute 'items'`);
  }
  const named = (name: string, given: Value): Value => args.named.get(name) ?? given;
  const part = named('by', by);
  if (part !== 'key' && part !== 'value')
    return raise('You can only sort by either "key" or "value"');
  run.step(value.size);
  const exact = isTruthy(named('case_sensitive', isExact));
  return sortValues(
    Array.from(value, tuple),
    pair => folded(pair[part === 'key' ? 0 : 1] ?? null, exact),
    isTruthy(named('reverse', reverse)),
  );
};

const sort = (value: Value, reverse: boolean, isExact: boolean, path: Value, run: Run): Value => {
  const get = pathsGetter(path, run);
  const keyOf = (item: Value): Value => {
    const key = get(item);
    return key instanceof Tuple
      ? tuple(key.map(part => folded(part, isExact)))
      : folded(key, isExact);
  };
  return sortValues(counted(value, run), keyOf, reverse);
};

const unique = (value: Value, isExact: boolean, path: Value, run: Run): Value[] => {
  const get = pathGetter(path, run);
  const seen = new Set<string>();
  return counted(value, run).filter(item => {
    const name = identity(folded(get(item), isExact));
    if (seen.has(name)) return false;
    seen.add(name);
    return true;
  });
};

const groupBy = (
  value: Value,
  path: Value,
  otherwise: Value | undefined,
  isExact: boolean,
  run: Run,
): Value => {
  const get = pathGetter(path, run, otherwise);
  const groups: { key: Value; items: Value[] }[] = [];
  for (const item of sortValues(counted(value, run), each => folded(get(each), isExact))) {
    const key = get(item);
    const last = groups.at(-1);
    if (last && equal(folded(last.key, isExact), folded(key, isExact))) last.items.push(item);
    else groups.push({ key, items: [item] });
  }
  return groups.map(({ key, items }) => {
    const group = new NamedTuple();
    group.parts = ['grouper', 'list'];
    group.push(key, items);
    return group;
  });
};

const batch = (value: Value, size: number, fill: Value | undefined, run: Run): Value => {
  const items = counted(value, run);
  if (size < 1) return new Iterator('generator', items.length > 0 ? [items] : [], 'do_batch');
  const batches: Value[][] = [];
  for (let at = 0; at < items.length; at += size) batches.push(items.slice(at, at + size));
  const last = batches.at(-1);
  if (last && fill !== undefined && fill !== null && size <= longestList)
    while (last.length < size) last.push(fill);
  return new Iterator('generator', batches, 'do_batch');
};

const slices = (value: Value, count: number, fill: Value | undefined, run: Run): Value => {
  const items = counted(value, run);
  if (count < 1) return raise('integer division or modulo by zero');
  needRoom(count);
  const each = Math.floor(items.length / count);
  const longer = items.length % count;
  let at = 0;
  const made = Array.from({ length: count }, (_, index) => {
    const part = items.slice(at, at + each + (index < longer ? 1 : 0));
    at += part.length;
    if (fill !== undefined && fill !== null && index >= longer) part.push(fill);
    return part;
  });
  return new Iterator('generator', made, 'sync_do_slice');
};

const extreme = (value: Value, isExact: boolean, path: Value, sign: 1 | -1, run: Run): Value => {
  const get = pathGetter(path, run);
  const [first, ...rest] = counted(value, run);
  if (first === undefined) return run.undefined('No aggregated item, sequence was empty.');
  const keyOf = (item: Value): Value => folded(get(item), isExact);
  return rest.reduce(
    (best, item) => (compare(keyOf(item), keyOf(best)) * sign > 0 ? item : best),
    first,
  );
};

const first = (value: Value, run: Run): Value => {
  const found = value instanceof Iterator ? value.next() : itemsOf(value)[0];
  return orElse<Value>(found, () => run.undefined('No first item, sequence was empty.'));
};

const last = (value: Value, run: Run): Value => {
  if (value instanceof Iterator) return raise(`'${value.typeName}' object is not reversible`);
  return orElse<Value>(itemsOf(value).at(-1), () =>
    run.undefined('No last item, sequence was empty.'),
  );
};

const reverse = (value: Value): Value => {
  if (typeof value === 'string') return Array.from(value).reverse().join('');
  if (value instanceof Undefined) value.need();
  return new Iterator(
    Array.isArray(value) ? 'list_reverseiterator' : 'reversed',
    [...itemsOf(value)].reverse(),
  );
};

const join = (value: Value, separator: Value, path: Value, run: Run): string => {
  const get = pathGetter(path, run);
  const texts = counted(value, run).map(item => textOf(get(item)));
  const between = textOf(separator);
  run.spend(texts.reduce((sum, text) => sum + text.length + between.length, 0));
  return texts.join(between);
};

const sum = (value: Value, path: Value, start: Value, run: Run): Value => {
  const get = pathGetter(path, run);
  return counted(value, run).reduce<Value>((total, item) => binary('+', total, get(item)), start);
};

const attr = (value: Value, name: Value, run: Run): Value => {
  if (value instanceof Undefined) value.raise();
  const wanted = textOf(name);
  return orElse(memberOf(value, wanted), () =>
    run.undefined(`'${typeName(value)} object' has no attribute '${wanted}'`),
  );
};

const random = (value: Value, run: Run): Value => {
  const size = lengthOf(value);
  if (size === 0) return run.undefined('No random item, sequence was empty.');
  const items = value instanceof Thing || typeof value === 'string' ? itemsOf(value) : value;
  return itemAt(items, randomInt(size)) ?? null;
};

const pairs = (value: Value): Value => {
  if (value instanceof Undefined) return new Iterator('generator', [], 'do_items');
  if (!isMap(value)) return raiseRuntime('Can only get item pairs from a mapping.');
  return new Iterator('generator', Array.from(value, tuple), 'do_items');
};

const plain = operations({
  length: [[], lengthOf],
  count: [[], lengthOf],
  first: [[], (value, _, run) => first(value, run)],
  last: [[], (value, _, run) => last(value, run)],
  list: [[], (value, _, run) => [...counted(value, run)]],
  reverse: [[], reverse],
  sort: [
    ['reverse?', 'case_sensitive?', 'attribute?'],
    (value, [reversed = false, isExact = false, path = null], run) =>
      sort(value, isTruthy(reversed), isTruthy(isExact), path, run),
  ],
  unique: [
    ['case_sensitive?', 'attribute?'],
    (value, [isExact = false, path = null], run) => unique(value, isTruthy(isExact), path, run),
  ],
  groupby: [
    ['attribute', 'default?', 'case_sensitive?'],
    (value, [path = null, otherwise, isExact = false], run) =>
      groupBy(value, path, otherwise ?? undefined, isTruthy(isExact), run),
  ],
  batch: [
    ['linecount', 'fill_with?'],
    (value, [size, fill], run) => batch(value, whole(size, 0), fill, run),
  ],
  slice: [
    ['slices', 'fill_with?'],
    (value, [count, fill], run) => slices(value, whole(count, 0), fill, run),
  ],
  min: [
    ['case_sensitive?', 'attribute?'],
    (value, [isExact = false, path = null], run) =>
      extreme(value, isTruthy(isExact), path, -1, run),
  ],
  max: [
    ['case_sensitive?', 'attribute?'],
    (value, [isExact = false, path = null], run) => extreme(value, isTruthy(isExact), path, 1, run),
  ],
  join: [
    ['d?', 'attribute?'],
    (value, [separator = '', path = null], run) => join(value, separator, path, run),
  ],
  sum: [
    ['attribute?', 'start?'],
    (value, [path = null, start = 0], run) => sum(value, path, start, run),
  ],
  items: [[], pairs],
  attr: [['name'], (value, [name = null], run) => attr(value, name, run)],
  random: [[], (value, _, run) => random(value, run)],
  default: [
    ['default_value?', 'boolean?'],
    (value, [otherwise = '', boolean = false]) =>
      value instanceof Undefined || (isTruthy(boolean) && !isTruthy(value)) ? otherwise : value,
  ],
  d: [
    ['default_value?', 'boolean?'],
    (value, [otherwise = '', boolean = false]) =>
      value instanceof Undefined || (isTruthy(boolean) && !isTruthy(value)) ? otherwise : value,
  ],
});

/** Jinja's filters on lists and dicts. */
export const sequenceFilters: Operations = new Map([...plain, ['dictsort', dictSort] as const]);
