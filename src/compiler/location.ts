import type { TextPosition, Trace } from '../data/values/position.ts';
import { keyPosition, nodePosition } from '../data/values/position.ts';
import { type Data, type Dict, isDict } from '../data/values/value.ts';
import type { SourceLocation } from '../protocol/error.ts';

// Stored in the nodes themselves: weak maps of that size make the garbage collector slow.
export const fileKey = Symbol('file');
export const traceKey = Symbol('trace');
export const originalKey = Symbol('original');

/** A node that may know its file and, if it is a copy, its original. */
export type LocatedNode = object & {
  readonly [fileKey]?: string | undefined;
  readonly [traceKey]?: Trace | undefined;
  readonly [originalKey]?: object | undefined;
};
type MarkedDict = Dict & { [fileKey]?: string; [traceKey]?: Trace; [originalKey]?: object };

/**
 * Records in which file a mapping was written.
 *
 * @param trace maps the mapping's positions to that file, if it is a template
 */
export const setFile = (node: Dict, file: string, trace?: Trace): void => {
  (node as MarkedDict)[fileKey] = file;
  if (trace) (node as MarkedDict)[traceKey] = trace;
};

/** Makes a shallow copy that knows the position of its original. */
export const copyOf = (node: Dict): Dict => {
  const copy: MarkedDict = new Map(node);
  const from: MarkedDict = node;
  copy[originalKey] = originalOf(from);
  if (from[fileKey] !== undefined) copy[fileKey] = from[fileKey];
  if (from[traceKey]) copy[traceKey] = from[traceKey];
  return copy;
};

/** Returns the position of an entry of the list `include` of an SLS. */
export const includeLocation = (data: Dict, include: Data[], index: number) => {
  const entry = include[index];
  const at = isDict(entry) ? locationOf([data, entry]) : locationOf([data, include], index);
  return at ?? locationOf([data], 'include');
};

/** Returns the file of a node, if it is recorded there. */
export const fileOf = (node: LocatedNode): string | undefined => node[fileKey];

/** Returns the node that a parser made: it has the line numbers. */
export const originalOf = (node: LocatedNode): object => node[originalKey] ?? node;

const positionOf = (node: LocatedNode, key: unknown): TextPosition | undefined => {
  const original = originalOf(node);
  return keyPosition(original, key) ?? nodePosition(original);
};

/**
 * Returns the position of a key in a mapping or list. `within` are the enclosing nodes, outermost
 * first: the first one with a file determines the file, the innermost one with a line the line.
 */
export const locationOf = (
  within: readonly unknown[],
  key?: unknown,
): SourceLocation | undefined => {
  const nodes = within.filter(node => typeof node === 'object' && node !== null) as LocatedNode[];
  const owner = nodes.find(node => fileOf(node) !== undefined);
  const file = owner && fileOf(owner);
  if (owner === undefined || file === undefined) return undefined;
  const last = nodes.at(-1);
  const position = last && positionOf(last, key);
  if (!position) return { file };
  return owner[traceKey]?.(position) ?? { file, ...position };
};
