/**
 * Views: objects such as `__grains__` that always show the values of the running context. They
 * are read when they are used, so whatever leaves a function is copied first.
 */
import { dictOf, isOrderedDict } from './key-order.ts';
import { isPlainDict, type Plain, type PlainDict, setOwn } from './plain.ts';
import { withWholeFloatsOf } from './whole-floats.ts';

/** What each view shows at the moment. */
const sources = new WeakMap<object, () => unknown>();

const inspect = Symbol.for('nodejs.util.inspect.custom');

/** Registers an object whose copies are the value that `pick` returns. */
export const asView = <T extends object>(object: T, pick: () => unknown): T => {
  sources.set(object, pick);
  return object;
};

/**
 * An object that behaves as the one that `pick` returns when it is used.
 * @param target `[]` for a list, so that `Array.isArray` holds
 */
export const view = <T extends object>(pick: () => T, target: object = {}): T => {
  // util.inspect passes by the traps of a proxy and looks at its target.
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

/** As `view`, for data: `copyViews` replaces it by a copy. */
export const dataView = <T extends object>(pick: () => T, target?: object): T =>
  asView(view(pick, target), pick);

/**
 * The value with a copy of what they show now in place of the views in it. A value without views
 * is returned as it is.
 */
export const copyViews = (value: unknown): unknown =>
  contains(value, isView) ? copyOf(value, dictOf) : value;

const isView = (value: object): boolean => sources.has(value);

/** Does a value hold an object of that kind in its lists, dicts, Maps and Sets? */
const contains = (
  value: unknown,
  isSought: (value: object) => boolean,
  seen: Set<object> = new Set(),
): boolean => {
  if (typeof value !== 'object' || value === null || seen.has(value)) return false;
  if (isSought(value)) return true;
  seen.add(value);
  for (const part of partsOf(value)) if (contains(part, isSought, seen)) return true;
  return false;
};

const partsOf = (value: object): Iterable<unknown> => {
  if (Array.isArray(value) || value instanceof Set) return value;
  if (value instanceof Map) return [...value.keys(), ...value.values()];
  return isPlainDict(value) ? Object.values(value) : [];
};

type MakeDict = (entries: readonly (readonly [string, Plain])[]) => PlainDict;

/** Copies lists, dicts, Maps, Sets and views; objects of other kinds stay the same. */
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
  // Known from the start, for what refers to itself.
  const dict: PlainDict = keep(makeDict(Object.keys(source).map(key => [key, null])));
  for (const [key, item] of Object.entries(source)) setOwn(dict, key, copied(item) as Plain);
  return withWholeFloatsOf(source, dict);
};

/** Proxies cannot be cloned: what is cloned holds copies instead of them. */
const clone = globalThis.structuredClone;
const isProxy = (value: object): boolean => isView(value) || isOrderedDict(value);
globalThis.structuredClone = (value, options) =>
  clone(
    contains(value, isProxy) ? (copyOf(value, Object.fromEntries) as typeof value) : value,
    options,
  );
