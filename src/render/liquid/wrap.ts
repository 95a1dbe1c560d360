import { Drop } from 'liquidjs';
import { dumpJson } from '../../data/json-dump.ts';
import { findKey } from '../../data/key.ts';
import { type Data, type DataKey, type Dict, Float, isDict } from '../../data/value.ts';

/**
 * Data as Liquid sees it. A dict becomes a view without a prototype: its properties are the
 * dict's keys and nothing else, it iterates as pairs. Lists are copied, floats keep their
 * `.0`. `unwrap` gives the very dict back.
 */
export const wrap = (data: Data): unknown => {
  if (data instanceof Float) return new LiquidFloat(data);
  if (typeof data !== 'object' || data === null) return data;
  const known = views.get(data);
  if (known !== undefined) return known;
  const view = Array.isArray(data) ? data.map(wrap) : dictView(data);
  views.set(data, view);
  originals.set(view, data);
  return view;
};

const views = new WeakMap<object, object>();
const originals = new WeakMap<object, Data>();

class LiquidFloat extends Drop {
  readonly float: Float;
  constructor(float: Float) {
    super();
    this.float = float;
  }
  override valueOf(): number {
    return this.float.value;
  }
}

const dictView = (dict: Dict): object =>
  new Proxy(Object.create(null) as object, {
    get: (_, name) => {
      if (name === Symbol.iterator) return () => pairs(dict);
      if (name === Symbol.toPrimitive) return () => dumpJson(dict);
      const key = typeof name === 'string' ? keyNamed(dict, name) : undefined;
      return key === undefined ? undefined : wrap(dict.get(key) ?? null);
    },
    has: (_, name) =>
      name === Symbol.iterator || (typeof name === 'string' && keyNamed(dict, name) !== undefined),
    ownKeys: () => [...new Set([...dict.keys()].map(String))],
    getOwnPropertyDescriptor: (_, name) => {
      const key = typeof name === 'string' ? keyNamed(dict, name) : undefined;
      return key === undefined
        ? undefined
        : {
            value: wrap(dict.get(key) ?? null),
            enumerable: true,
            configurable: true,
            writable: false,
          };
    },
    set: () => false,
    deleteProperty: () => false,
    defineProperty: () => false,
    getPrototypeOf: () => null,
  });

function* pairs(dict: Dict): Generator<[unknown, unknown]> {
  for (const [key, value] of dict) yield [wrap(key), wrap(value)];
}

/** The key a template means by a text: that text, or the number or truth value it spells. */
const keyNamed = (dict: Dict, name: string): DataKey | undefined => {
  if (dict.has(name)) return name;
  if (/^-?\d+(?:\.\d+)?$/.test(name)) return findKey(dict, Number(name));
  if (name === 'true' || name === 'false') return findKey(dict, name === 'true');
  return undefined;
};

/** Data again, from whatever a template made. */
export const unwrap = (value: unknown): Data => {
  if (value === undefined || value === null) return null;
  if (value instanceof LiquidFloat) return value.float;
  if (value instanceof Float) return value;
  if (value instanceof Drop) return unwrap(value.valueOf());
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value))
    return (originals.get(value) as Data[] | undefined) ?? value.map(unwrap);
  if (isDict(value)) return value;
  if (typeof value === 'object') return originals.get(value) ?? fromObject(value);
  if (typeof value === 'number')
    return Number.isInteger(value) && !Number.isSafeInteger(value) ? new Float(value) : value;
  if (typeof value === 'string' || typeof value === 'boolean' || typeof value === 'bigint')
    return value;
  return String(value);
};

const fromObject = (value: object): Dict => {
  const dict: Dict = new Map();
  for (const [key, item] of Object.entries(value)) dict.set(key, unwrap(item));
  return dict;
};
