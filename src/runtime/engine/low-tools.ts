import type { LowChunk } from '../../protocol/low.ts';
import type { Plain, PlainDict } from '../../protocol/plain.ts';
import { isPlainDict } from '../../protocol/plain.ts';

export type Requisite = { readonly key: string; readonly value: Plain };

/** `{pkg.installed: vim}` → pkg: vim; a plain string means any state with that id or name. */
export const readRequisite = (item: Plain): Requisite => {
  if (!isPlainDict(item)) return { key: 'id', value: item };
  const [key = 'id', value = null] = Object.entries(item)[0] ?? [];
  return { key: key.includes('.') ? (key.split('.')[0] ?? key) : key, value };
};

export const requisitesOf = (low: LowChunk, type: string): readonly Requisite[] => {
  const list = low[type];
  return Array.isArray(list) ? list.map(readRequisite) : [];
};

export const asList = (value: Plain | undefined): readonly Plain[] =>
  value === undefined ? [] : Array.isArray(value) ? value : [value];

/** Python's truth of a value. */
export const truthy = (value: unknown): boolean => {
  if (Array.isArray(value)) return value.length > 0;
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0;
  return Boolean(value);
};

export const hasChanges = (result: { changes: PlainDict } | undefined): boolean =>
  result !== undefined && truthy(result.changes);
