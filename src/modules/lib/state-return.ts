import type { StateReturn } from '../api.ts';

/** A state's answer, to be filled: nothing to do, all well. */
export const newReturn = (name: string): StateReturn => ({
  name,
  changes: {},
  result: true,
  comment: '',
});

/** The answer of a state that cannot do its work; changes made so far stay. */
export const failed = (ret: StateReturn, comment: string): StateReturn => ({
  ...ret,
  result: false,
  comment,
});

/** An error's message, for a comment. */
export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);
