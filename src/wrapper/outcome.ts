import type { Problem } from '../compiler/problem.ts';
import { type Data, toData } from '../data/values/value.ts';
import type { Plain } from '../protocol/plain.ts';
import type { StateResults } from '../protocol/result.ts';

/** The result of a function of the control node. */
export type Outcome = (
  | { readonly value: Data }
  /** States ran, or the user has to change something before any can run. */
  | { readonly states: StateResults; readonly leftOut?: number }
  /** All of Salt's error messages: no state ran. */
  | { readonly errors: readonly string[] }
) & {
  /** The host's exit code for this run, Salt's `__context__['retcode']`. */
  readonly retcode: number;
  /** The positions of the errors. */
  readonly problems?: readonly Problem[];
};

/** Makes an outcome of plain data. */
export const valueOutcome = (value: Data, retcode = 0): Outcome => ({ value, retcode });

/** Most functions return plain data: their exit code is 0. */
export const outcomeOf = (returned: Data | Outcome): Outcome =>
  isOutcome(returned) ? returned : valueOutcome(returned);

const isOutcome = (returned: Data | Outcome): returned is Outcome =>
  typeof returned === 'object' && returned !== null && 'retcode' in returned;

/** Returns an outcome as data for a template or another function. */
export const dataOf = (outcome: Outcome): Data => {
  if ('value' in outcome) return outcome.value;
  if ('errors' in outcome) return [...outcome.errors];
  return toData(outcome.states as unknown as Plain);
};
