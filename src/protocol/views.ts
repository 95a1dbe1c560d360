/**
 * Views: objects such as `__grains__` that always show the values of the current context. They are
 * read when used, so values that a function returns are copied first.
 */
import { dictOf, isOrderedDict } from './key-order.ts';
import { isPlainDict, type Plain, type PlainDict, setOwn } from './plain.ts';
import { withWholeFloatsOf } from './whole-floats.ts';

/** The current value of each view. */
const sources = new WeakMap<object, () => unknown>();

const inspect = Symbol.for('nodejs.util.inspect.custom');

/** Registers an object as a view: copies of it are copies of the value that `pick` returns. */
export const asView = <T extends object>(object: T, pick: () => unknown): T => {
  sources.set(object, pick);
  return object;
};

/**
 * Makes an object that behaves like the current result of `pick`.
 * @param target `[]` for a list, so that `Array.isArray` holds
 */
export const view = <T extends object>(pick: () => T, target: object = {}): T => {
  // util.inspect bypasses the traps of a proxy and reads its target.
  Object.defineProperty(target, inspect, { value: () => pick(), configurable: true });
  return new Proxy(target as T, {
    get: (_, key) => Reflect.get(pick(), key),
    set: (_, key, value) => Reflect.set(pick(), key, value),
    has: (_, key) => Reflect.has(pick(), key),
    deleteProperty: (_, key) => Reflect.deleteProperty(pick(), key),
    defineProperty: (_, key, property) => Reflect.defineProperty(pick(), key, property),
    preventExtensions: () => false,
    ownKeys: () => Reflect.ownKeys(pick()),
    getOwnPropertyDescriptor: (_, key) => {
      const found = Reflect.getOwnPropertyDescriptor(pick(), key);
      const isFixed = Reflect.getOwnPropertyDescriptor(target, key)?.configurable === false;
      return found && (isFixed ? found : { ...found, configurable: true });
    },
  });
};

/** Makes a view of data: `copyViews` replaces it by a copy. */
export const dataView = <T extends object>(pick: () => T, target?: object): T =>
  asView(view(pick, target), pick);

/**
 * Returns the value with its views replaced by copies of their current values. Returns a value
 * without views unchanged.
 */
export const copyViews = (value: unknown): unknown =>
  contains(value, isView) ? copyOf(value, dictOf) : value;

const isView = (value: object): boolean => sources.has(value);

/** Whether a value contains such an object in its lists, dicts, Maps and Sets. */
const contains = (value: unknown, isSought: (value: object) => boolean): boolean =>
  typeof value === 'object' && value !== null && holds(value, isSought, undefined);

/**
 * @param above the values that were looked at; made for the first one inside of another, since most
 *   values are flat
 */
const holds = (
  value: object,
  isSought: (value: object) => boolean,
  above: Set<object> | undefined,
): boolean => {
  if (isSought(value)) return true;
  let seen = above;
  const isHit = (part: unknown): boolean => {
    if (typeof part !== 'object' || part === null) return false;
    seen ??= new Set([value]);
    if (seen.has(part)) return false;
    seen.add(part);
    return holds(part, isSought, seen);
  };
  if (Array.isArray(value)) return value.some(isHit);
  if (value instanceof Map || value instanceof Set) {
    for (const [key, part] of value.entries()) if (isHit(key) || isHit(part)) return true;
    return false;
  }
  if (!isPlainDict(value)) return false;
  for (const key of Object.keys(value)) if (isHit(value[key])) return true;
  return false;
};

type MakeDict = (entries: readonly (readonly [string, Plain])[]) => PlainDict;

/** Copies lists, dicts, Maps, Sets and views; other objects are kept. */
const copyOf = (
  value: unknown,
  makeDict: MakeDict,
  done: Map<object, unknown> = new Map(),
): unknown => {
  if (typeof value !== 'object' || value === null) return value;
  const source = sources.get(value)?.() ?? value;
  if (typeof source !== 'object') return source;
  const known = done.get(source);
  if (known !== undefined) return known;
  const copied = (part: unknown): unknown => copyOf(part, makeDict, done);
  const keep = <T extends object>(copy: T): T => {
    done.set(source, copy);
    return copy;
  };
  if (Array.isArray(source)) {
    const list: unknown[] = keep([]);
    for (const item of source) list.push(copied(item));
    return withWholeFloatsOf(source, list);
  }
  if (source instanceof Set) {
    const set = keep(new Set());
    for (const item of source) set.add(copied(item));
    return set;
  }
  if (source instanceof Map) {
    const map = keep(new Map());
    for (const [key, item] of source) map.set(copied(key), copied(item));
    return map;
  }
  if (!isPlainDict(source)) return source;
  // Registered before its values are copied, for values that refer to it.
  const dict: PlainDict = keep(makeDict(Object.keys(source).map(key => [key, null])));
  for (const [key, item] of Object.entries(source)) setOwn(dict, key, copied(item) as Plain);
  return withWholeFloatsOf(source, dict);
};

/** structuredClone cannot clone proxies, so it gets copies instead. */
const clone = globalThis.structuredClone;
const isProxy = (value: object): boolean => isView(value) || isOrderedDict(value);
globalThis.structuredClone = (value, options) =>
  clone(
    contains(value, isProxy) ? (copyOf(value, Object.fromEntries) as typeof value) : value,
    options,
  );
