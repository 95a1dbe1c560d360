import { compareKeys } from '../../../data/formats/json-dump.ts';
import { findKey } from '../../../data/values/key.ts';
import { type DataKey, type Dict, Float } from '../../../data/values/value.ts';
import { raise, raiseLimit } from '../jinja-error.ts';
import { isFloat, isNumeric, numeric } from './number.ts';
import { longestText, reprOf, typeName } from './text.ts';
import { Undefined } from './undefined.ts';
import {
  isMap,
  isTuple,
  type Key,
  Thing,
  Tuple,
  tuple,
  type Value,
  type ValueDict,
} from './value.ts';

/** Python's `bool(value)`. */
export const isTruthy = (value: Value): boolean => {
  if (typeof value !== 'object') return Boolean(value);
  if (value === null) return false;
  if (value instanceof Thing) return value.truth;
  if (value instanceof Float) return value.value !== 0;
  return (Array.isArray(value) ? value.length : value.size) > 0;
};

/** Python's `==`. */
export const equal = (left: Value, right: Value): boolean => same(left, right, { left: mostPairs });

/**
 * Limit of comparisons: a list that contains another twice, which contains another twice …, is
 * huge.
 */
const mostPairs = 10_000_000;

type Budget = { left: number };

const same = (left: Value, right: Value, budget: Budget): boolean => {
  if (left instanceof Thing) {
    if (right instanceof Undefined) right.need();
    return left.equals(right);
  }
  if (right instanceof Thing) return right.equals(left);
  if (left === right) return true;
  if (isNumeric(left)) return isNumeric(right) && sameNumber(numeric(left), numeric(right));
  budget.left -= 1;
  if (budget.left < 0) raiseLimit('A comparison took too long');
  if (Array.isArray(left))
    return (
      Array.isArray(right) &&
      isTuple(left) === isTuple(right) &&
      left.length === right.length &&
      left.every((item, index) => same(item, right[index] ?? null, budget))
    );
  return isMap(left) && isMap(right) && sameDict(left, right, budget);
};

const sameNumber = (left: number | bigint, right: number | bigint): boolean =>
  left === right || (typeof left !== typeof right && left >= right && left <= right);

const sameDict = (left: ValueDict, right: ValueDict, budget: Budget): boolean => {
  if (left.size !== right.size) return false;
  for (const [key, item] of left) {
    const other = lookUp(right, key);
    if (other === undefined || !same(item, other, budget)) return false;
  }
  return true;
};

/**
 * Compares as Python does: negative, zero or positive; `undefined` for NaN.
 *
 * @throws JinjaFault for values that cannot be ordered.
 */
export const compare = (
  left: Value,
  right: Value,
  operator = '<',
  budget: Budget = { left: mostPairs },
): number => {
  if (typeof left === 'string' && typeof right === 'string') return compareKeys(left, right);
  if (isNumeric(left) && isNumeric(right)) {
    const [a, b] = [numeric(left), numeric(right)];
    return a < b ? -1 : a > b ? 1 : sameNumber(a, b) ? 0 : Number.NaN;
  }
  for (const value of [left, right]) if (value instanceof Undefined) value.need();
  if (Array.isArray(left) && Array.isArray(right) && isTuple(left) === isTuple(right)) {
    for (let index = 0; index < left.length && index < right.length; index += 1) {
      const [a, b] = [left[index] ?? null, right[index] ?? null];
      if (!same(a, b, budget)) return compare(a, b, operator, budget);
    }
    return left.length - right.length;
  }
  return raise(
    `'${operator}' not supported between instances of '${typeName(left)}' and '${typeName(right)}'`,
  );
};

/** Sorts as Python does: stable, and using only `<`. */
export const sortValues = <T>(
  items: readonly T[],
  keyOf: (item: T) => Value,
  reverse = false,
): T[] => {
  const budget: Budget = { left: mostPairs };
  const keyed = items.map(item => ({ item, key: keyOf(item) }));
  const order = reverse
    ? (a: { key: Value }, b: { key: Value }) => compare(b.key, a.key, '<', budget)
    : (a: { key: Value }, b: { key: Value }) => compare(a.key, b.key, '<', budget);
  return keyed.sort((a, b) => order(a, b) || 0).map(({ item }) => item);
};

/** The tuples that are keys, by their identity. */
const tuples = new Map<string, WeakRef<Tuple>>();

/** Tuples from which on those that nobody uses any more are removed. */
const fewTuples = 10_000;
let mostTuples = fewTuples;

const removeUnused = (): void => {
  for (const [text, ref] of tuples) if (!ref.deref()) tuples.delete(text);
  // Most may be in use: the next search must not follow at once.
  mostTuples = Math.max(fewTuples, 2 * tuples.size);
};

/** Returns the key of a value in a dict; equal tuples are one object. */
export const comparisonKey = (value: Value): Key => {
  if (value instanceof Undefined) return value.isStrict ? value.raise() : '';
  if (value instanceof Tuple) return internTuple(value);
  if (Array.isArray(value) || isMap(value)) return raise(`unhashable type: '${typeName(value)}'`);
  if (value instanceof Thing) return raise(`unhashable type: '${value.typeName}'`);
  return value;
};

const internTuple = (value: Tuple): Tuple => {
  for (const item of value) comparisonKey(item);
  const name = identity(value);
  const known = tuples.get(name)?.deref();
  if (known) return known;
  const kept = tuple(value);
  if (tuples.size > mostTuples) removeUnused();
  tuples.set(name, new WeakRef(kept));
  return kept;
};

/** Returns a string that is the same exactly for values that are equal in Python. */
export const identity = (value: Value): string => {
  if (typeof value === 'string') return `"${value}`;
  if (isNumeric(value)) {
    const number = numeric(value);
    return isFloat(value) && !Number.isInteger(number) ? `f${number}` : `i${BigInt(number)}`;
  }
  if (Array.isArray(value)) {
    const inner = value.map(identity).map(text => `${text.length}:${text}`);
    const all = inner.join('');
    if (all.length > longestText) raiseLimit('A value is too large to be compared');
    return `${isTuple(value) ? 't' : 'l'}${all}`;
  }
  return `r${reprOf(value)}`;
};

/** Looks up a key as Python does: `1`, `1.0` and `True` are one key. */
export const lookUp = (dict: ValueDict, key: Key): Value | undefined => {
  const direct = dict.get(key);
  if (direct !== undefined || typeof key === 'string') return direct;
  const known = knownKey(dict, key);
  return known === undefined ? undefined : dict.get(known);
};

/** Returns the dict's own key that equals this one. */
export const knownKey = (dict: ValueDict, key: Key): Key | undefined => {
  if (dict.has(key)) return key;
  if (typeof key === 'string' || key === null || key instanceof Tuple) return undefined;
  return findKey(dict as Dict, key as DataKey);
};

/** Sets a value under an equal key, if there is one. */
export const assign = (dict: ValueDict, key: Value, value: Value): void => {
  const wanted = comparisonKey(key);
  dict.set(typeof wanted === 'string' ? wanted : (knownKey(dict, wanted) ?? wanted), value);
};
