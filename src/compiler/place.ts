import type { TextPosition, Trace } from '../data/values/position.ts';
import { keyPosition, nodePosition } from '../data/values/position.ts';
import type { Dict } from '../data/values/value.ts';
import type { SourceLocation } from '../protocol/error.ts';

// On the nodes themselves: weak maps of that many entries make the garbage collector slow.
export const fileKey = Symbol('file');
export const traceKey = Symbol('trace');
export const originalKey = Symbol('original');

/** What may know the file it was written in and, being a copy, its original. */
export type Marked = object & {
  readonly [fileKey]?: string | undefined;
  readonly [traceKey]?: Trace | undefined;
  readonly [originalKey]?: object | undefined;
};
type MarkedDict = Dict & { [fileKey]?: string; [traceKey]?: Trace; [originalKey]?: object };

/**
 * Remembers which file a mapping was written in.
 *
 * @param trace leads from the mapping's positions back to that file, if it is a template
 */
export const setFile = (node: Dict, file: string, trace?: Trace): void => {
  (node as MarkedDict)[fileKey] = file;
  if (trace) (node as MarkedDict)[traceKey] = trace;
};

/** A shallow copy that still knows where its original was written. */
export const copyOf = (node: Dict): Dict => {
  const copy: MarkedDict = new Map(node);
  const from: MarkedDict = node;
  copy[originalKey] = originalOf(from);
  if (from[fileKey] !== undefined) copy[fileKey] = from[fileKey];
  if (from[traceKey]) copy[traceKey] = from[traceKey];
  return copy;
};

/** The file a node knows to be written in. */
export const fileOf = (node: Marked): string | undefined => node[fileKey];

/** The node that a parser made: it knows its lines. */
export const originalOf = (node: Marked): object => node[originalKey] ?? node;

const positionOf = (node: Marked, key: unknown): TextPosition | undefined => {
  const original = originalOf(node);
  return keyPosition(original, key) ?? nodePosition(original);
};

/**
 * The place of a key of a mapping or list. `within` are the nodes around it, outermost first:
 * the first that knows its file names it; the innermost that knows a line gives the line.
 */
export const locationOf = (
  within: readonly unknown[],
  key?: unknown,
): SourceLocation | undefined => {
  const nodes = within.filter(node => typeof node === 'object' && node !== null) as Marked[];
  const owner = nodes.find(node => fileOf(node) !== undefined);
  const file = owner && fileOf(owner);
  if (owner === undefined || file === undefined) return undefined;
  const last = nodes.at(-1);
  const position = last && positionOf(last, key);
  if (!position) return { file };
  return owner[traceKey]?.(position) ?? { file, ...position };
};
