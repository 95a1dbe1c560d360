import type { Problem } from '../compiler/problem.ts';
import { type Data, toData } from '../data/values/value.ts';
import type { Plain } from '../protocol/plain.ts';
import type { StateResults } from '../protocol/result.ts';

/** What a function of the control node returns. */
export type Outcome = (
  | { readonly value: Data }
  /** States ran, or nothing ran where the user has to change something first. */
  | { readonly states: StateResults; readonly leftOut?: number }
  /** Salt's messages, all of them: nothing ran. */
  | { readonly errors: readonly string[] }
) & {
  /** The host's exit code for this run, Salt's `__context__['retcode']`. */
  readonly retcode: number;
  /** Where each error is. */
  readonly problems?: readonly Problem[];
};

/** An outcome that is plain data. */
export const valueOutcome = (value: Data, retcode = 0): Outcome => ({ value, retcode });

/** Most functions return plain data: their exit code is 0. */
export const outcomeOf = (returned: Data | Outcome): Outcome =>
  isOutcome(returned) ? returned : valueOutcome(returned);

const isOutcome = (returned: Data | Outcome): returned is Outcome =>
  typeof returned === 'object' && returned !== null && 'retcode' in returned;

/** An outcome as the data that a template or another function sees. */
export const dataOf = (outcome: Outcome): Data => {
  if ('value' in outcome) return outcome.value;
  if ('errors' in outcome) return [...outcome.errors];
  return toData(outcome.states as unknown as Plain);
};
