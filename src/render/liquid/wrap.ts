import { Drop } from 'liquidjs';
import { dumpJson } from '../../data/formats/json-dump.ts';
import { findKey } from '../../data/values/key.ts';
import { type Data, type DataKey, type Dict, Float, isDict } from '../../data/values/value.ts';
import type { Recorder } from '../share/recorder.ts';

/**
 * Wraps data for Liquid. A dict becomes a view without a prototype: its properties are the dict's
 * keys and nothing else, and it iterates as pairs. Lists are copied, floats keep their `.0`.
 * `unwrap` returns the original dict.
 */
export const wrap = (data: Data): unknown => allViews.of(data);

/** Returns the same view for the same data; reads through views are reported to the recorder. */
export class Views {
  readonly #views = new WeakMap<object, object>();
  readonly #recorder: Recorder | undefined;

  constructor(recorder?: Recorder) {
    this.#recorder = recorder;
  }

  of(data: Data): unknown {
    if (data instanceof Float) return new LiquidFloat(data);
    if (typeof data !== 'object' || data === null) return data;
    const known = this.#views.get(data);
    if (known !== undefined) return known;
    const view = Array.isArray(data) ? this.#list(data) : this.#dict(data);
    this.#views.set(data, view);
    originals.set(view, { data, recorder: this.#recorder });
    return view;
  }

  #list(list: Data[]): unknown[] {
    this.#recorder?.keys(list);
    return list.map((item, index) => {
      this.#recorder?.item(list, index);
      return this.of(item);
    });
  }

  #dict(dict: Dict): object {
    const recorder = this.#recorder;
    const find = (name: string | symbol): DataKey | undefined =>
      typeof name === 'string' ? keyNamed(dict, name, recorder) : undefined;
    const value = (key: DataKey): unknown => {
      recorder?.item(dict, key);
      return this.of(dict.get(key) ?? null);
    };
    const pairs = () => this.#pairs(dict);
    return new Proxy(Object.create(null) as object, {
      get: (_, name) => {
        if (name === Symbol.iterator) return pairs;
        if (name === Symbol.toPrimitive) return () => shown(dict, recorder);
        // liquidjs looks for a method before it reads any property: that is not a read of the template.
        if (name === 'toLiquid' && !Map.prototype.has.call(dict, name)) return undefined;
        const key = find(name);
        return key === undefined ? undefined : value(key);
      },
      has: (_, name) => name === Symbol.iterator || find(name) !== undefined,
      ownKeys: () => {
        recorder?.keys(dict);
        return [...new Set([...dict.keys()].map(String))];
      },
      getOwnPropertyDescriptor: (_, name) => {
        const key = find(name);
        return key === undefined
          ? undefined
          : { value: value(key), enumerable: true, configurable: true, writable: false };
      },
      set: () => false,
      deleteProperty: () => false,
      defineProperty: () => false,
      getPrototypeOf: () => null,
    });
  }

  *#pairs(dict: Dict): Generator<[unknown, unknown]> {
    this.#recorder?.keys(dict);
    for (const [key, value] of dict) {
      this.#recorder?.item(dict, key);
      yield [this.of(key), this.of(value)];
    }
  }
}

/** Views without a recorder. */
const allViews = new Views();

type Original = { readonly data: Data[] | Dict; readonly recorder: Recorder | undefined };

const originals = new WeakMap<object, Original>();

/** Returns all data of a view. */
const original = (view: object): Data[] | Dict | undefined => {
  const found = originals.get(view);
  if (found) found.recorder?.whole(found.data);
  return found?.data;
};

const shown = (dict: Dict, recorder: Recorder | undefined): string => {
  recorder?.whole(dict);
  return dumpJson(dict);
};

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

/**
 * Returns the key that a string in a template means: the string itself, or the number or boolean
 * that it spells.
 */
const keyNamed = (
  dict: Dict,
  name: string,
  recorder: Recorder | undefined,
): DataKey | undefined => {
  recorder?.item(dict, name);
  if (dict.has(name)) return name;
  const isNumber = /^-?\d+(?:\.\d+)?$/.test(name);
  if (!isNumber && name !== 'true' && name !== 'false') return undefined;
  recorder?.keys(dict);
  return findKey(dict, isNumber ? Number(name) : name === 'true');
};

/**
 * As `unwrap`, for tracking: the read is not recorded, since the template does not see the result.
 */
export const unseen = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value;
  const known = originals.get(value)?.data;
  if (known) return known;
  return Array.isArray(value) ? value.map(unseen) : value;
};

/** Converts the values of a template back to data. */
export const unwrap = (value: unknown): Data => {
  if (value === undefined || value === null) return null;
  if (value instanceof LiquidFloat) return value.float;
  if (value instanceof Float) return value;
  if (value instanceof Drop) return unwrap(value.valueOf());
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return original(value) ?? value.map(unwrap);
  if (isDict(value)) return value;
  if (typeof value === 'object') return original(value) ?? fromObject(value);
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
