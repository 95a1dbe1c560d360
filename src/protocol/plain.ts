/** JSON data: what crosses the wire and what modules on the host work with. */
export type Plain = null | boolean | number | string | Plain[] | { [key: string]: Plain };

export type PlainDict = { [key: string]: Plain };

export const isPlainDict = (value: unknown): value is PlainDict => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
};

/** Sets a key even when it is called `__proto__`: data never reaches a prototype. */
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
