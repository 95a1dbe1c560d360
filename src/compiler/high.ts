import type { Position } from '../data/position.ts';
import { keyPosition, nodePosition } from '../data/position.ts';
import type { Data, DataKey, Dict } from '../data/value.ts';
import { isDict } from '../data/value.ts';
import type { Place } from '../protocol/error.ts';
import type { Problem } from './problem.ts';

/**
 * High data: ID → state module → list of arguments, as a template rendered it and the compiler
 * completed it (`__sls__`, `__env__`, `__extend__`, `__exclude__`). Salt's own shape, since
 * `state.show_highstate` shows it.
 */
export type High = Dict;

const files = new WeakMap<object, string>();
const originals = new WeakMap<object, object>();

/** Remembers which file a mapping was written in. */
export const setFile = (node: object, file: string): void => {
  files.set(node, file);
};

/** A shallow copy that still knows where its original was written. */
export const copyOf = <T extends Dict | Data[]>(node: T): T => {
  const copy = (isDict(node) ? new Map(node) : [...(node as Data[])]) as T;
  originals.set(copy, originals.get(node) ?? node);
  const file = files.get(node);
  if (file !== undefined) files.set(copy, file);
  return copy;
};

const positionOf = (node: object, key: unknown): Position | undefined => {
  const original = originals.get(node) ?? node;
  return keyPosition(original, key) ?? nodePosition(original);
};

/**
 * The place of a key of a mapping or list. `within` are the nodes around it, outermost first:
 * the first that knows its file names it; the innermost that knows a line gives the line.
 */
export const placeOf = (within: readonly unknown[], key?: unknown): Place | undefined => {
  const nodes = within.filter(node => typeof node === 'object' && node !== null) as object[];
  const file = nodes.map(node => files.get(node)).find(one => one !== undefined);
  if (file === undefined) return undefined;
  const last = nodes.at(-1);
  const position = last && positionOf(last, key);
  return position ? { file, ...position } : { file };
};

/** The key of a mapping's first entry, which is what Salt looks at in an argument. */
export const firstKey = (dict: Dict): DataKey | undefined => dict.keys().next().value;

/** Keys such as `__sls__` are Salt's own and no state. */
export const isOwnKey = (key: DataKey): boolean => typeof key === 'string' && key.startsWith('__');

/** The file of an ID, for problems that know nothing finer. */
export const slsOf = (body: Data | undefined): Data =>
  isDict(body) ? (body.get('__sls__') ?? null) : null;

/** Python's idea of nothing: what Salt means by an empty file or value. */
export const isFalsy = (data: Data): boolean =>
  data === null ||
  data === '' ||
  data === 0 ||
  data === false ||
  (Array.isArray(data) ? data.length === 0 : isDict(data) && data.size === 0);

export const problem = (message: string, at: Place | undefined, hint?: string): Problem => ({
  message,
  ...(at ? { at } : {}),
  ...(hint === undefined ? {} : { hint }),
});
