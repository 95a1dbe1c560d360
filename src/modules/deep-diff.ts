import { isPlainDict, type Plain, type PlainDict } from '../protocol/plain.ts';

/**
 * Compares two dicts, and dicts in them key by key. Returns `{ old: …, new: … }`, empty when they
 * are equal, as `deep_diff` of Idem's dict-tools does.
 *
 * @param before the values as they were
 * @param after the values as they are
 * @param ignore keys that are not compared, at any depth
 */
export const deepDiff = (
  before: PlainDict,
  after: PlainDict,
  ignore: readonly string[] = [],
): { old?: PlainDict; new?: PlainDict } => {
  const [was, is] = differing(before, after, new Set(ignore));
  return {
    ...(Object.keys(was).length > 0 ? { old: was } : {}),
    ...(Object.keys(is).length > 0 ? { new: is } : {}),
  };
};

const differing = (
  before: PlainDict,
  after: PlainDict,
  ignored: ReadonlySet<string>,
): [PlainDict, PlainDict] => {
  const was: [string, Plain][] = [];
  const is: [string, Plain][] = [];
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (ignored.has(key)) continue;
    const a = Object.hasOwn(before, key) ? before[key] : undefined;
    const b = Object.hasOwn(after, key) ? after[key] : undefined;
    if (isSame(a, b)) continue;
    const areDicts = isPlainDict(a) && isPlainDict(b);
    const [x, y] = areDicts ? differing(a, b, ignored) : [a, b];
    if (areDicts && isEmpty(x) && isEmpty(y)) continue;
    if (x !== undefined) was.push([key, x]);
    if (y !== undefined) is.push([key, y]);
  }
  return [Object.fromEntries(was), Object.fromEntries(is)];
};

const isEmpty = (value: Plain | undefined): boolean =>
  isPlainDict(value) && Object.keys(value).length === 0;

const isSame = (a: Plain | undefined, b: Plain | undefined): boolean => {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, at) => isSame(item, b[at]));
  if (!isPlainDict(a) || !isPlainDict(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every(key => Object.hasOwn(b, key) && isSame(a[key], b[key]))
  );
};
