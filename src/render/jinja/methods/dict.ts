import { isOrdered, markOrdered } from '../../../data/values/ordered.ts';
import type { Dict } from '../../../data/values/value.ts';
import { raise } from '../jinja-error.ts';
import { assign, comparisonKey, knownKey, lookUp } from '../values/compare.ts';
import { itemsOf, needRoom } from '../values/iterate.ts';
import { orElse } from '../values/or-else.ts';
import { reprOf } from '../values/text.ts';
import { DictView } from '../values/things.ts';
import { Undefined } from '../values/undefined.ts';
import {
  type Args,
  isMap,
  OrderedDict,
  tuple,
  type Value,
  type ValueDict,
} from '../values/value.ts';
import { type Method, methods } from './method.ts';

/** Python's `dict.update`: dicts, pairs and named arguments. */
export const updateValueDict = (dict: ValueDict, { list, named }: Args): null => {
  if (list.length > 1) raise(`update expected at most 1 argument, got ${list.length}`);
  for (const source of list) {
    if (source instanceof Undefined) source.need();
    if (isMap(source)) for (const [key, value] of [...source]) assign(dict, key, value);
    else itemsOf(source).forEach((pair, index) => addPair(dict, pair, index));
  }
  for (const [name, value] of named) dict.set(name, value);
  needRoom(dict.size);
  return null;
};

const addPair = (dict: ValueDict, pair: Value, index: number): null => {
  const parts = itemsOf(pair);
  const [key, value] = parts;
  if (parts.length !== 2 || key === undefined || value === undefined)
    return raise(
      `dictionary update sequence element #${index} has length ${parts.length}; 2 is required`,
    );
  assign(dict, key, value);
  return null;
};

const take = (dict: ValueDict, key: Value): Value | undefined => {
  const known = knownKey(dict, comparisonKey(key));
  if (known === undefined) return undefined;
  const value = dict.get(known);
  dict.delete(known);
  return value;
};

const sameKind = (from: ValueDict, to: ValueDict): ValueDict =>
  isOrdered(from) ? (markOrdered(to as Dict) as ValueDict) : to;

const copyOf = (dict: ValueDict): ValueDict =>
  dict instanceof OrderedDict ? new OrderedDict(dict) : sameKind(dict, new Map(dict));

const plain = methods<ValueDict>('dict', {
  get: [
    ['key', 'default?'],
    (dict, [key = null, other = null]) => orElse(lookUp(dict, comparisonKey(key)), () => other),
  ],
  items: [[], dict => new DictView(dict, 'items')],
  keys: [[], dict => new DictView(dict, 'keys')],
  values: [[], dict => new DictView(dict, 'values')],
  pop: [
    ['key', 'default?'],
    (dict, [key = null, other]) =>
      orElse(take(dict, key), () => orElse(other, () => raise(reprOf(key)))),
  ],
  popitem: [
    ['last?'],
    (dict, [last = true]) => {
      const keys = [...dict.keys()];
      const key = last === false ? keys[0] : keys.at(-1);
      if (key === undefined) return raise("'popitem(): dictionary is empty'");
      const value = dict.get(key) ?? null;
      dict.delete(key);
      return tuple([key, value]);
    },
  ],
  setdefault: [
    ['key', 'default?'],
    (dict, [key = null, other = null]) => {
      const known = lookUp(dict, comparisonKey(key));
      if (known === undefined) assign(dict, key, other);
      return orElse(known, () => other);
    },
  ],
  copy: [[], copyOf],
  clear: [
    [],
    dict => {
      dict.clear();
      return null;
    },
  ],
  move_to_end: [
    ['key', 'last?'],
    (dict, [key = null]) => {
      const value = take(dict, key);
      if (value === undefined) return raise(reprOf(key));
      assign(dict, key, value);
      return null;
    },
  ],
  fromkeys: [
    ['iterable', 'value?'],
    (_, [keys = null, value = null]) => {
      const made: ValueDict = new Map();
      for (const key of itemsOf(keys)) assign(made, key, value);
      return made;
    },
  ],
});

export const dictMethods: ReadonlyMap<string, Method<ValueDict>> = new Map([
  ...plain,
  ['update', updateValueDict] as const,
]);
