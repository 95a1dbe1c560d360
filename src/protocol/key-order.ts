import { type Plain, type PlainDict, setOwn } from './plain.ts';

/**
 * Dicts whose key order differs from JavaScript's: an object puts keys that look like an index
 * (`10`, `9`) first and sorts them, Salt's dicts keep the written order. Such a dict is an object
 * that lists its keys in the written order; every other dict is a plain object and costs nothing.
 */
const ordered = new WeakSet<object>();
let any = false;

/** Whether such a dict was ever made. */
export const hasOrderedDicts = (): boolean => any;

export const isOrderedDict = (value: object): value is PlainDict => ordered.has(value);

/** Makes a dict with these keys, in this order. */
export const dictOf = (entries: readonly (readonly [string, Plain])[]): PlainDict => {
  const target: PlainDict = {};
  for (const [key, value] of entries) setOwn(target, key, value);
  return isInOrder(entries) ? target : withOrder(target, entries);
};

/** Whether an object with these keys lists them in this order. */
const isInOrder = (entries: readonly (readonly [string, unknown])[]): boolean => {
  let last = -1;
  let named = false;
  for (const [key] of entries) {
    const index = indexOf(key);
    if (index === undefined) named = true;
    else if (named || index < last) return false;
    else last = index;
  }
  return true;
};

/** Returns the number of a key that JavaScript treats as an index. */
const indexOf = (key: string): number | undefined => {
  if (!startsWithDigit(key)) return undefined;
  return /^(?:0|[1-9]\d{0,9})$/.test(key) && Number(key) < 2 ** 32 - 1 ? Number(key) : undefined;
};

/** Only such keys can be listed in another order than that of their insertion. */
export const startsWithDigit = (key: string): boolean => {
  const first = key.charCodeAt(0);
  return first >= 48 && first <= 57;
};

const withOrder = (
  target: PlainDict,
  entries: readonly (readonly [string, unknown])[],
): PlainDict => {
  const keys = new Set<string | symbol>(entries.map(([key]) => key));
  const dict = new Proxy(target, {
    ownKeys: () => [...keys],
    defineProperty: (object, key, property) => {
      const done = Reflect.defineProperty(object, key, property);
      if (done) keys.add(key);
      return done;
    },
    deleteProperty: (object, key) => {
      const done = Reflect.deleteProperty(object, key);
      if (done) keys.delete(key);
      return done;
    },
  });
  ordered.add(dict);
  any = true;
  return dict;
};
