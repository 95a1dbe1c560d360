import { keyIdentity } from './key.ts';
import { type Data, isDict } from './value.ts';

/**
 * Returns a string that two values share exactly if Python calls them equal: `1`, `1.0` and `True`
 * are equal, and the order of keys is ignored.
 */
export const canonical = (value: Data): string => {
  if (typeof value === 'string') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (!isDict(value)) return String(keyIdentity(value));
  const entries = [...value].map(([key, item]) => `${canonical(key)}:${canonical(item)}`);
  return `{${entries.sort().join(',')}}`;
};
