import type { Ranges } from './taint.ts';
import { stamp } from './values/stamp.ts';

/** The keys and values of one collection that a host chose in its text. */
export type TaintMarks = {
  readonly keys: ReadonlyMap<unknown, Ranges>;
  /** By key of a dictionary, by index of a list. */
  readonly values: ReadonlyMap<unknown, Ranges>;
};

const marks = stamp<TaintMarks>();

let any = false;

/** Whether any collection has marks. */
export const hasTaintMarks = (): boolean => any;

/** Notes what a host chose in a collection. */
export const setTaintMarks = (collection: object, note: TaintMarks): void => {
  any = true;
  marks.put(collection, note);
};

/** Returns the host-supplied parts of a collection; `undefined` if there are none. */
export const taintMarks = (collection: object): TaintMarks | undefined => marks.of(collection);

/** Copies the marks of the original to a copy. */
export const copyTaintMarks = (from: object, to: object): void => {
  const known = marks.of(from);
  if (known) marks.put(to, known);
};
