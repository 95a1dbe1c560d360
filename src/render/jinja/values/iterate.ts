import { Float } from '../../../data/values/value.ts';
import { raise, raiseLimit } from '../jinja-error.ts';
import { comparisonKey, equal, lookUp } from './compare.ts';
import { wholeNumber } from './number.ts';
import { typeName } from './text.ts';
import { Undefined } from './undefined.ts';
import { isMap, Thing, Tuple, tuple, type Value } from './value.ts';

/** Returns a value's items: a list itself, or a new list. */
export const itemsOf = (value: Value): Value[] => itemsIn(value) ?? notIterable(value);

/** Returns a value's items, if it is iterable. */
export const itemsIn = (value: Value): Value[] | undefined => {
  if (Array.isArray(value)) return value;
  if (isMap(value)) return [...value.keys()];
  if (typeof value === 'string') return characters(value);
  return value instanceof Thing ? value.items() : undefined;
};

/** The longest list a template may make. */
export const longestList = 2_000_000;

/** Refuses a list that would be too long. */
export const needRoom = (length: number): void => {
  if (length > longestList) raiseLimit('A list grew too long');
};

/** Splits a text into characters, which uses many times its size. */
const characters = (text: string): string[] => {
  needRoom(text.length);
  return Array.from(text);
};

/** Returns a part of a text, counted in characters. */
export const charactersFrom = (text: string, start: number, end: number): string =>
  hasSurrogate.test(text) ? characters(text).slice(start, end).join('') : text.slice(start, end);

const notIterable = (value: Value): never => raise(`'${typeName(value)}' object is not iterable`);

/** Python's `len(value)`. */
export const lengthOf = (value: Value): number => {
  const size = sizeIn(value);
  return size ?? raise(`object of type '${typeName(value)}' has no len()`);
};

export const sizeIn = (value: Value): number | undefined => {
  if (typeof value === 'string') return charCount(value);
  if (Array.isArray(value)) return value.length;
  if (isMap(value)) return value.size;
  return value instanceof Thing ? value.size : undefined;
};

const hasSurrogate = /[\ud800-\udfff]/;

/** Counts characters as Python does: code points. */
export const charCount = (text: string): number =>
  hasSurrogate.test(text) ? Array.from(text).length : text.length;

/** Python's `item in container`. */
export const contains = (container: Value, item: Value): boolean => {
  if (typeof container === 'string') {
    if (item instanceof Undefined) item.need();
    if (typeof item !== 'string')
      return raise(`'in <string>' requires string as left operand, not ${typeName(item)}`);
    return container.includes(item);
  }
  if (isMap(container)) return lookUp(container, comparisonKey(item)) !== undefined;
  const items = itemsIn(container);
  if (!items) return raise(`argument of type '${typeName(container)}' is not iterable`);
  return items.some(known => equal(known, item));
};

/** Returns the item at an index; negative indexes count from the end. */
export const itemAt = (value: Value, index: Value): Value | undefined => {
  const at = wholeNumber(index);
  if (at === undefined) return undefined;
  if (typeof value === 'string')
    return hasSurrogate.test(value) ? characters(value).at(at) : value.at(at);
  return Array.isArray(value) ? value.at(at) : undefined;
};

/** Python's `value[start:stop:step]`. */
export const slice = (value: Value, start: Value, stop: Value, step: Value): Value => {
  if (value instanceof Undefined) value.need();
  if (typeof value === 'string' && (step === null || step === 1))
    return charactersFrom(value, bound(start) ?? 0, bound(stop) ?? value.length);
  const source =
    typeof value === 'string'
      ? characters(value)
      : Array.isArray(value)
        ? value
        : value instanceof Thing
          ? value.items()
          : undefined;
  if (!source)
    return raise(
      isMap(value)
        ? "unhashable type: 'slice'"
        : `'${typeName(value)}' object is not subscriptable`,
    );
  const picked = pick(source, bound(start), bound(stop), bound(step) ?? 1);
  if (typeof value === 'string') return picked.join('');
  return value instanceof Tuple ? tuple(picked) : picked;
};

const bound = (value: Value): number | undefined => {
  if (value === null) return undefined;
  const whole = value instanceof Float ? undefined : wholeNumber(value);
  return whole ?? raise('slice indices must be integers or None or have an __index__ method');
};

const pick = (
  items: Value[],
  start: number | undefined,
  stop: number | undefined,
  step: number,
): Value[] => {
  if (step === 0) raise('slice step cannot be zero');
  const size = items.length;
  const [low, high] = step > 0 ? [0, size] : [-1, size - 1];
  const place = (index: number): number =>
    Math.min(Math.max(index < 0 ? index + size : index, low), high);
  const from = start === undefined ? (step > 0 ? low : high) : place(start);
  const to = stop === undefined ? (step > 0 ? high : low) : place(stop);
  const picked: Value[] = [];
  for (let at = from; step > 0 ? at < to : at > to; at += step) picked.push(items[at] ?? null);
  return picked;
};
