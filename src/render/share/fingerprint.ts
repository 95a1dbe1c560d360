import { isOrdered } from '../../data/values/ordered.ts';
import { type Data, type DataKey, Float } from '../../data/values/value.ts';
import type { TaintSource } from '../taint/taint-table.ts';

/**
 * Fingerprints of values: equal for values that no template can distinguish, different for all
 * others. `1`, `1.0`, `true` and `"1"` are four values; an absent value differs from all of them.
 */
export const scalarFingerprint = (value: DataKey | undefined): string => {
  if (typeof value === 'string') return `"${value}`;
  if (value === undefined) return 'absent';
  if (value instanceof Float) return `f${numberText(value.value)}`;
  if (typeof value === 'number') return `i${numberText(value)}`;
  if (typeof value === 'bigint') return `b${value}`;
  return String(value);
};

/** The fingerprint of a scalar with its tainted part: another host's value may be clean. */
export const taintedFingerprint = (
  value: DataKey | undefined,
  taint: TaintSource | undefined,
): string => {
  const mark = scalarFingerprint(value);
  const ranges = typeof value === 'string' ? taint?.of(value) : undefined;
  return ranges ? `${mark}\0${ranges.map(({ start, end }) => `${start}-${end}`).join()}` : mark;
};

const numberText = (value: number): string => (Object.is(value, -0) ? '-0' : String(value));

/** Returns the kind of a collection: a list, a dictionary, an ordered one. */
export const shapeOf = (value: object): string =>
  Array.isArray(value) ? 'l' : isOrdered(value) ? 'o' : 'd';

/** Combines several fingerprints. */
export const joinFingerprints = (marks: Iterable<string>): string => {
  let joined = '';
  for (const mark of marks) joined += `${mark.length}:${mark}`;
  return joined;
};

/**
 * Returns the fingerprint of a value with its contents, including which parts are the same object:
 * changing one of these changes the others.
 */
export const deepFingerprint = (
  value: Data | undefined,
  taint?: TaintSource,
  known = new Map<object, number>(),
): string => {
  if (typeof value !== 'object' || value === null || value instanceof Float)
    return taintedFingerprint(value, taint);
  const number = known.get(value);
  if (number !== undefined) return `*${number}`;
  known.set(value, known.size);
  const parts = [shapeOf(value)];
  if (Array.isArray(value))
    for (const item of value) parts.push(deepFingerprint(item, taint, known));
  else
    for (const [key, item] of value)
      parts.push(taintedFingerprint(key, taint), deepFingerprint(item, taint, known));
  return joinFingerprints(parts);
};
