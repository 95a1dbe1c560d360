/**
 * States that hold the parameters of an SLS for the `stateconf` renderer. They do nothing and
 * succeed, with whatever arguments.
 */
import type { Plain, StateReturn } from '../../api.ts';

/**
 * Holds parameters.
 * @param name any unique string
 */
// biome-ignore lint/correctness/noEmptyPattern: the pattern says that any keyword is taken
export const set = (name: string, {}: { [key: string]: Plain } = {}): StateReturn => ({
  name,
  result: true,
  changes: {},
  comment: '',
});

/**
 * Holds parameters, under another name.
 * @param name any unique string
 */
// biome-ignore lint/correctness/noEmptyPattern: the pattern says that any keyword is taken
export const context = (name: string, {}: { [key: string]: Plain } = {}): StateReturn => set(name);
