import {
  type Data,
  type DataKey,
  type Dict,
  Float,
  isDict,
  keyText,
} from '../data/values/value.ts';

/**
 * Converts data for JavaScript code: objects without a prototype, numbers for floats. Dicts have
 * Python's `get(key, default)`, `items()`, `keys()` and `values()`, unless they have keys of these
 * names.
 */
export const toJs = (data: Data): unknown => {
  if (data instanceof Float) return data.value;
  if (Array.isArray(data)) return data.map(toJs);
  if (!isDict(data)) return data;
  const object = Object.create(null) as Record<string, unknown>;
  for (const [key, value] of data) object[keyText(key)] = toJs(value);
  for (const [name, method] of Object.entries(methods(object)))
    if (!(name in object)) Object.defineProperty(object, name, { value: method });
  return object;
};

const methods = (object: Record<string, unknown>): Record<string, unknown> => ({
  get: (key: string, otherwise: unknown = null) => (key in object ? object[key] : otherwise),
  items: () => Object.entries(object),
  keys: () => Object.keys(object),
  values: () => Object.values(object),
  toString: () => JSON.stringify(object),
});

/**
 * Converts a JavaScript value to Data: objects and Maps are dicts, `undefined` is null.
 *
 * @throws TypeError for values that are not data: functions, symbols, cyclic values.
 */
export const fromJs = (value: unknown, above: readonly object[] = []): Data => {
  if (value === undefined || value === null) return null;
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'bigint':
      return Number.isSafeInteger(Number(value)) ? Number(value) : value;
    case 'number':
      // Python's integers have no -0.
      if (Object.is(value, -0)) return new Float(value);
      return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value))
        ? value
        : new Float(value);
    case 'object':
      break;
    default:
      throw new TypeError(`a ${typeof value} is not data`);
  }
  if (value instanceof Float) return value;
  if (value instanceof Date) return value.toISOString();
  if (above.includes(value)) throw new TypeError('the data contains itself');
  const path = [...above, value];
  if (Array.isArray(value) || value instanceof Set)
    return [...value].map(item => fromJs(item, path));
  const dict: Dict = new Map();
  const entries = value instanceof Map ? value.entries() : Object.entries(value);
  for (const [key, item] of entries) dict.set(key as DataKey, fromJs(item, path));
  return dict;
};

/** `salt['mod.fun'](…)` for JavaScript: a last plain object holds the keyword arguments. */
export const saltTable = (
  call: (fun: string, args: Data[], kwargs: Dict) => Promise<Data>,
): Record<string, (...args: unknown[]) => Promise<unknown>> =>
  new Proxy(Object.create(null) as Record<string, never>, {
    get: (_, fun) =>
      typeof fun === 'string' && fun !== 'then'
        ? async (...values: unknown[]) => {
            const last = values.at(-1);
            const named = isPlainObject(last) ? fromJs(last) : undefined;
            const args = (isDict(named ?? null) ? values.slice(0, -1) : values).map(item =>
              fromJs(item),
            );
            return toJs(await call(fun, args, isDict(named ?? null) ? (named as Dict) : new Map()));
          }
        : undefined,
    has: (_, fun) => typeof fun === 'string' && fun.includes('.'),
  });

const isPlainObject = (value: unknown): value is object => {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
};
