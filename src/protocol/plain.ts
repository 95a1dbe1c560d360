/** JSON data: the values on the wire, and those that modules on the host work with. */
export type Plain = null | boolean | number | string | Plain[] | { [key: string]: Plain };

export type PlainDict = { [key: string]: Plain };

export const isPlainDict = (value: unknown): value is PlainDict => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
};

/** Sets a key even if it is `__proto__`: data must not reach a prototype. */
export const setOwn = <T>(target: Record<string, T>, key: string, value: T): void => {
  if (key === '__proto__')
    Object.defineProperty(target, key, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  else target[key] = value;
};

/** Converts a value to text. `String` would throw for a dict with a key `toString`. */
export const plainText = (value: Plain | undefined): string =>
  typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);

/**
 * Looks up a name that a user, a template or a host chose: does not find `constructor` and other
 * keys of prototypes.
 */
export const getOwn = <T>(
  table: Readonly<Record<string, T>>,
  key: string | undefined,
): T | undefined => (key !== undefined && Object.hasOwn(table, key) ? table[key] : undefined);
