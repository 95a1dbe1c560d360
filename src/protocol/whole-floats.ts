import { type PlainDict, setOwn } from './plain.ts';

/**
 * Floats without a fraction (`1.0`), which JavaScript does not distinguish from integers. The items
 * of a list or dict that are such floats are recorded beside it; others cost nothing.
 */
const kept = new WeakMap<object, Set<string>>();
let any = false;

/** Whether such a float was ever recorded. */
export const hasWholeFloats = (): boolean => any;

/** Records that the number at this key or index is a float. */
export const markWholeFloat = (container: object, key: string | number): void => {
  any = true;
  const keys = kept.get(container);
  if (keys) keys.add(String(key));
  else kept.set(container, new Set([String(key)]));
};

/** Whether the current value is such a float. */
export const isWholeFloat = (container: object, key: string | number): boolean =>
  any &&
  kept.get(container)?.has(String(key)) === true &&
  Number.isInteger((container as Readonly<Record<string | number, unknown>>)[key]);

/** Copies the record of a list or dict to its copy. */
export const withWholeFloatsOf = <T extends object>(container: object, copy: T): T => {
  if (!any) return copy;
  for (const key of kept.get(container) ?? [])
    if (isWholeFloat(container, key)) markWholeFloat(copy, key);
  return copy;
};

/** Merges the records of several dicts: for a key in more than one, the later one counts. */
export const mergeWholeFloats = (
  ...dicts: readonly (PlainDict | null | undefined)[]
): PlainDict => {
  const all: PlainDict = {};
  for (const dict of dicts)
    for (const [key, value] of Object.entries(dict ?? {})) setOwn(all, key, value);
  if (any)
    for (const key of Object.keys(all)) {
      const from = dicts.findLast(dict => dict && Object.hasOwn(dict, key));
      if (from && isWholeFloat(from, key)) markWholeFloat(all, key);
    }
  return all;
};

/** Formats such a float as Python does: `1.0`, `1e+16`. */
export const wholeFloatText = (value: number): string =>
  Math.abs(value) < 1e16 ? value.toFixed(1) : String(value);

/** Returns the text of such a float, if it is one. */
export const wholeFloatAt = (container: object, key: string | number): string | undefined =>
  isWholeFloat(container, key)
    ? wholeFloatText((container as Readonly<Record<string | number, number>>)[key] ?? 0)
    : undefined;
