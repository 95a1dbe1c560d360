import { type DataKey, type Dict, Float } from './value.ts';

/** Returns the identity of a key: in Python `1`, `1.0` and `True` are one key. */
export const keyIdentity = (key: DataKey): unknown => {
  if (typeof key === 'string' || key === null) return key;
  if (typeof key === 'boolean') return Number(key);
  const value = key instanceof Float ? key.value : key;
  if (typeof value !== 'bigint') return value;
  return value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER)
    ? Number(value)
    : value;
};

/** Returns the dict's own key that equals this one in Python. */
export const findKey = (dict: Dict, key: DataKey): DataKey | undefined => {
  if (dict.has(key)) return key;
  if (typeof key === 'string' || key === null) return undefined;
  const wanted = keyIdentity(key);
  for (const known of dict.keys())
    if (typeof known !== 'string' && known !== null && Object.is(keyIdentity(known), wanted))
      return known;
  return undefined;
};
