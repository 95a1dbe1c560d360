import { stamp } from './stamp.ts';

/** Line and column, both 1-based, in the text that was parsed. */
export type Position = { readonly line: number; readonly column: number };

type KeyPlaces = { readonly places: Map<unknown, Position>; shared: boolean };

const ofKeys = stamp<KeyPlaces>();
const ofNodes = stamp<Position>();

/** Remembers where a mapping's key (or a sequence's index) stands in its source. */
export const setKeyPosition = (node: object, key: unknown, position: Position): void => {
  const known = ofKeys.of(node);
  if (known && !known.shared) known.places.set(key, position);
  else ofKeys.put(node, { places: new Map(known?.places).set(key, position), shared: false });
};

export const setNodePosition = (node: object, position: Position): void => {
  ofNodes.put(node, position);
};

/** Where a key of a mapping or an item of a sequence was written, when the loader knows. */
export const keyPosition = (node: object, key: unknown): Position | undefined =>
  ofKeys.of(node)?.places.get(key);

export const nodePosition = (node: unknown): Position | undefined =>
  typeof node === 'object' && node !== null ? ofNodes.of(node) : undefined;

/** Gives a copy of a node the places of the original. */
export const copyPositions = (from: object, to: object): void => {
  const node = ofNodes.of(from);
  if (node) ofNodes.put(to, node);
  const keys = ofKeys.of(from);
  if (!keys) return;
  keys.shared = true;
  ofKeys.put(to, keys);
};
