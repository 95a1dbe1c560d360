import { isOrdered, markOrdered } from './ordered.ts';
import { copyPositions } from './position.ts';
import { type Data, type DataKey, Float } from './value.ts';

/** Makes a deep copy; positions are copied, and shared parts stay shared. */
export const cloneData = (data: Data, done: Map<object, Data> = new Map()): Data => {
  if (typeof data !== 'object' || data === null || data instanceof Float) return data;
  const known = done.get(data);
  if (known !== undefined) return known;
  if (Array.isArray(data)) {
    const list: Data[] = [];
    done.set(data, list);
    for (const item of data) list.push(cloneData(item, done));
    copyPositions(data, list);
    return list;
  }
  const dict = new Map<DataKey, Data>();
  done.set(data, dict);
  for (const [key, item] of data) dict.set(key, cloneData(item, done));
  copyPositions(data, dict);
  if (isOrdered(data)) markOrdered(dict);
  return dict;
};

/** Whether no part of it occurs twice. */
export const isTree = (data: Data, seen: Set<object> = new Set()): boolean => {
  if (typeof data !== 'object' || data === null || data instanceof Float) return true;
  if (seen.has(data)) return false;
  seen.add(data);
  const parts = Array.isArray(data) ? data : [...data.values()];
  return parts.every(part => isTree(part, seen));
};

/** As `cloneData`, faster, for values that pass `isTree`. */
export const cloneTree = (data: Data): Data => {
  if (typeof data !== 'object' || data === null || data instanceof Float) return data;
  if (Array.isArray(data)) {
    const list = data.map(cloneTree);
    copyPositions(data, list);
    return list;
  }
  const dict = new Map<DataKey, Data>();
  for (const [key, item] of data) dict.set(key, cloneTree(item));
  copyPositions(data, dict);
  if (isOrdered(data)) markOrdered(dict);
  return dict;
};
