/** Values that pass between the sandbox and the outside. Runs inside QuickJS. */

type Packed = null | boolean | number | string | Packed[] | { [kind: string]: Packed };

/** Unpacks a value (`confined/wire.ts`) into the form that templates see, see `js-value.ts`. */
export const fromPacked = (value: Packed): unknown => {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(fromPacked);
  if ('f' in value) return Number(value.f);
  if ('i' in value) return BigInt(value.i as string);
  const object = Object.create(null) as Record<string, unknown>;
  const pairs = value.d as Packed[];
  for (let at = 0; at < pairs.length; at += 2)
    object[String(fromPacked(pairs[at] ?? null))] = fromPacked(pairs[at + 1] ?? null);
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
 * Packs a value of the template.
 *
 * @throws TypeError for values that are not data: functions, symbols, cyclic values.
 */
export const toPacked = (value: unknown, above: readonly object[] = []): Packed => {
  if (value === undefined || value === null) return null;
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'bigint')
    return Number.isSafeInteger(Number(value)) ? Number(value) : { i: String(value) };
  if (typeof value === 'number') return packedNumber(value);
  if (typeof value !== 'object') throw new TypeError(`a ${typeof value} is not data`);
  if (value instanceof Date) return value.toISOString();
  if (above.includes(value)) throw new TypeError('the data contains itself');
  const path = [...above, value];
  if (Array.isArray(value) || value instanceof Set)
    return [...value].map(item => toPacked(item, path));
  const pairs: Packed[] = [];
  const entries = value instanceof Map ? value.entries() : Object.entries(value);
  for (const [key, item] of entries) pairs.push(toPacked(key), toPacked(item, path));
  return { d: pairs };
};

const packedNumber = (value: number): Packed =>
  Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value))
    ? Object.is(value, -0)
      ? { f: '-0' }
      : value
    : { f: String(value) };

/** `salt['mod.fun'](…)`: a last plain object holds the keyword arguments. */
export const guestSaltTable = (
  call: (fun: string, args: string, kwargs: string) => Promise<unknown>,
): Record<string, unknown> =>
  new Proxy(Object.create(null) as Record<string, never>, {
    get: (_, fun) =>
      typeof fun === 'string' && fun !== 'then'
        ? async (...values: unknown[]) => {
            const last = values.at(-1);
            const isNamed = isPlainObject(last);
            const args = (isNamed ? values.slice(0, -1) : values).map(item => toPacked(item));
            const kwargs = isNamed ? toPacked(last) : { d: [] };
            return call(fun, JSON.stringify(args), JSON.stringify(kwargs));
          }
        : undefined,
    has: (_, fun) => typeof fun === 'string' && fun.includes('.'),
  });

const isPlainObject = (value: unknown): value is object => {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
};
