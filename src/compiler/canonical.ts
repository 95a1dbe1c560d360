import type { Data } from '../data/value.ts';
import { Float, isDict } from '../data/value.ts';

/** A text that two values share exactly when they are equal; the order of keys does not count. */
export const canonical = (value: Data): string => {
  if (value instanceof Float) return `f${value}`;
  if (typeof value === 'bigint') return `i${value}`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (!isDict(value)) return String(value);
  const entries = [...value].map(([key, item]) => `${canonical(key)}:${canonical(item)}`);
  return `{${entries.sort().join(',')}}`;
};
