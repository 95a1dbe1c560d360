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

// On the nodes themselves: weak maps of that many entries make the garbage collector slow.
const fileKey = Symbol('file');
const originalKey = Symbol('original');
type Marked = object & { [fileKey]?: string; [originalKey]?: object };

/** Remembers which file a mapping was written in. */
export const setFile = (node: Marked, file: string): void => {
  node[fileKey] = file;
};

/** A shallow copy that still knows where its original was written. */
export const copyOf = (node: Dict): Dict => {
  const copy: Dict & Marked = new Map(node);
  const from: Dict & Marked = node;
  copy[originalKey] = from[originalKey] ?? from;
  if (from[fileKey] !== undefined) copy[fileKey] = from[fileKey];
  return copy;
};

/** A mapping without entries that knows where its original was written. */
export const emptyCopyOf = (node: Dict): Dict => {
  const copy: Dict & Marked = new Map();
  const from: Dict & Marked = node;
  copy[originalKey] = from[originalKey] ?? from;
  return copy;
};

const positionOf = (node: Marked, key: unknown): Position | undefined => {
  const original = node[originalKey] ?? node;
  return keyPosition(original, key) ?? nodePosition(original);
};

/**
 * The place of a key of a mapping or list. `within` are the nodes around it, outermost first:
 * the first that knows its file names it; the innermost that knows a line gives the line.
 */
export const placeOf = (within: readonly unknown[], key?: unknown): Place | undefined => {
  const nodes = within.filter(node => typeof node === 'object' && node !== null) as Marked[];
  const file = nodes.map(node => node[fileKey]).find(one => one !== undefined);
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
