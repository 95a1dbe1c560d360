import { type Data, type DataKey, type Dict, Float, isDict } from '../../data/values/value.ts';

/**
 * Encodes data as JSON without loss. A value that JSON cannot represent becomes an object with one
 * key: `d` for a dict as alternating keys and values, `f` for a float whose value looks like an
 * integer, `i` for a big integer.
 */
export const pack = (data: Data): string => JSON.stringify(packed(data));

const packed = (data: DataKey | Data): unknown => {
  if (data instanceof Float) return { f: Object.is(data.value, -0) ? '-0' : String(data.value) };
  if (typeof data === 'bigint') return { i: String(data) };
  if (typeof data === 'number' && (!Number.isFinite(data) || Object.is(data, -0)))
    return { f: Object.is(data, -0) ? '-0' : String(data) };
  if (Array.isArray(data)) return data.map(packed);
  if (!isDict(data)) return data;
  const pairs: unknown[] = [];
  for (const [key, value] of data) pairs.push(packed(key), packed(value));
  return { d: pairs };
};

/**
 * Decodes such a JSON text. It may come from a sandbox, so its form is checked.
 *
 * @throws TypeError, SyntaxError, RangeError for a text that `pack` does not write
 */
export const unpack = (text: string): Data => unpacked(JSON.parse(text));

const unpacked = (value: unknown): Data => {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') return value;
  if (Array.isArray(value)) return value.map(unpacked);
  const { d, f, i } = value as Record<string, unknown>;
  if (typeof f === 'string') return new Float(Number(f));
  if (typeof i === 'string' && /^-?\d{1,10000}$/.test(i)) return BigInt(i);
  if (!Array.isArray(d) || d.length % 2 !== 0) throw new TypeError('this is not packed data');
  const dict: Dict = new Map();
  for (let at = 0; at < d.length; at += 2) {
    const key = unpacked(d[at]);
    if (typeof key === 'object' && key !== null && !(key instanceof Float))
      throw new TypeError('a collection cannot be a key');
    dict.set(key, unpacked(d[at + 1]));
  }
  return dict;
};
