import { type Plain, type PlainDict, setOwn } from './plain.ts';

/**
 * Dicts whose keys stand in another order than JavaScript gives them: an object puts keys that
 * look like an index (`10`, `9`) first and sorts them, Salt's dicts keep what was written. Such
 * a dict is an object that lists its keys in the order they came; every other one is a plain
 * object and costs nothing.
 */
const ordered = new WeakSet<object>();
let any = false;

/** Whether there was ever one. */
export const hasOrderedDicts = (): boolean => any;

export const isOrderedDict = (value: object): value is PlainDict => ordered.has(value);

/** A dict with these keys, in this order. */
export const dictOf = (entries: readonly (readonly [string, Plain])[]): PlainDict => {
  const target: PlainDict = {};
  for (const [key, value] of entries) setOwn(target, key, value);
  return isInOrder(entries) ? target : withOrder(target, entries);
};

/** Does an object with these keys list them as they stand? */
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

/** The number of a key that JavaScript takes for an index. */
const indexOf = (key: string): number | undefined => {
  if (!startsWithDigit(key)) return undefined;
  return /^(?:0|[1-9]\d{0,9})$/.test(key) && Number(key) < 2 ** 32 - 1 ? Number(key) : undefined;
};

/** Only such keys may come in another order than they were put in. */
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
