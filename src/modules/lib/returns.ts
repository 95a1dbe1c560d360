import type { PlainDict, StateReturn } from '../api.ts';

/** All is as wanted. */
export const unchanged = (name: string, comment: string): StateReturn => ({
  name,
  changes: {},
  result: true,
  comment,
});

/** It could not be done. */
export const failed = (name: string, comment: string, changes: PlainDict = {}): StateReturn => ({
  name,
  changes,
  result: false,
  comment,
});

/** Test mode: this would change. */
export const would = (name: string, comment: string, changes: PlainDict = {}): StateReturn => ({
  name,
  changes,
  result: null,
  comment,
});

/** It was changed. */
export const changed = (name: string, comment: string, changes: PlainDict): StateReturn => ({
  name,
  changes,
  result: true,
  comment,
});
