import { unrepresentable } from '../../../data/formats/yaml-dump.ts';
import { isOrdered, markOrdered } from '../../../data/values/ordered.ts';
import { type Data, type Dict, Float } from '../../../data/values/value.ts';
import { raise, raiseLimit } from '../jinja-error.ts';
import { textOf } from './text.ts';
import { Bytes, PySet } from './things.ts';
import { Undefined } from './undefined.ts';
import { isMap, Thing, Tuple, type Value } from './value.ts';

const deepest = 200;
const mostNodes = 5_000_000;

/**
 * Converts a value to data: sets, views and iterators become lists, bytes become strings. Lists and
 * dicts that contain only data stay the same objects, so that a function can change its argument.
 *
 * @throws JinjaFault for values that are not data: undefined values, functions, endless structures.
 */
export const valueToData = (value: Value): Data => dataOf(value, thingData);

/**
 * Converts a value for Salt's YAML dumper: undefined values, functions, iterators and views become
 * `unrepresentable` and are not errors.
 */
export const toYamlData = (value: Value): Data =>
  dataOf(value, thing =>
    thing instanceof Bytes || thing instanceof PySet ? thingData(thing) : unrepresentable,
  );

type FromThing = (thing: Thing) => Data;

const dataOf = (value: Value, fromThing: FromThing): Data => {
  const count = { nodes: 0 };
  return isData(value, 0, count) ? (value as Data) : converted(value, fromThing);
};

export const toDataDict = (values: ReadonlyMap<string, Value>): Dict =>
  new Map(Array.from(values, ([name, value]) => [name, valueToData(value)]));

const isData = (value: Value, depth: number, count: { nodes: number }): boolean => {
  if (typeof value !== 'object' || value === null || value instanceof Float) return true;
  count.nodes += Array.isArray(value) ? value.length + 1 : isMap(value) ? value.size + 1 : 1;
  if (depth > deepest || count.nodes > mostNodes) raiseLimit('A value is too deep or too large');
  if (value instanceof Thing || value instanceof Tuple) {
    if (value instanceof Tuple) for (const item of value) isData(item, depth + 1, count);
    return false;
  }
  if (Array.isArray(value))
    return value.reduce<boolean>((all, item) => isData(item, depth + 1, count) && all, true);
  let all = true;
  for (const [key, item] of value)
    all = isData(item, depth + 1, count) && !(key instanceof Tuple) && all;
  return all;
};

const converted = (value: Value, fromThing: FromThing): Data => {
  if (value instanceof Thing) return fromThing(value);
  if (Array.isArray(value)) return Array.from(value, item => converted(item, fromThing));
  if (!isMap(value)) return value;
  const dict: Dict = new Map(
    Array.from(value, ([key, item]) => [
      key instanceof Tuple ? textOf(key) : key,
      converted(item, fromThing),
    ]),
  );
  return isOrdered(value) ? markOrdered(dict) : dict;
};

const thingData: FromThing = value => {
  if (value instanceof Undefined) return value.isStrict ? value.raise() : '';
  if (value instanceof Bytes) return value.bytes.toString('utf8');
  const items = value.isCallable ? undefined : value.items();
  if (!items) return raise(`a value of type '${value.typeName}' is not data`);
  return items.map(item => converted(item, thingData));
};
