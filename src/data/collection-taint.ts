import type { Ranges } from './taint.ts';
import { objectNote } from './values/object-note.ts';

/** The keys and values of one collection that a host chose in its text. */
export type CollectionTaint = {
  readonly keys: ReadonlyMap<unknown, Ranges>;
  /** By key of a dictionary, by index of a list. */
  readonly values: ReadonlyMap<unknown, Ranges>;
};

const marks = objectNote<CollectionTaint>();

let any = false;

/** Whether any collection has marks. */
export const hasTaintMarks = (): boolean => any;

/** Notes what a host chose in a collection. */
export const setCollectionTaint = (collection: object, note: CollectionTaint): void => {
  any = true;
  marks.put(collection, note);
};

/** Returns the host-supplied parts of a collection; `undefined` if there are none. */
export const collectionTaint = (collection: object): CollectionTaint | undefined =>
  marks.of(collection);

/** Copies the marks of the original to a copy. */
export const copyCollectionTaint = (from: object, to: object): void => {
  const known = marks.of(from);
  if (known) marks.put(to, known);
};
