import type { PlainDict } from '../protocol/plain.ts';
import type { StateReturn } from '../protocol/result.ts';

/**
 * The comment of a failure. A function gets the message of the error; it is undefined if `apply`
 * returned false, or if the change had no effect. With a string, the message of an error is the
 * comment.
 */
export type FailureComment = string | ((reason?: string) => string);

/** A change that `plan` found to be necessary. */
export type PlannedChange = {
  /** The comment in test mode, such as `User bob is set to be created`. */
  readonly would: string;
  /** The comment after the change, such as `User bob was created`. */
  readonly done: string;
  /** The comment if the change failed; by default that of the steps. */
  readonly failed?: FailureComment;
  /** The `changes` of the state. */
  readonly changes: PlainDict;
  /** The `changes` in test mode, if they are not the same. */
  readonly preview?: PlainDict;
};

/** The steps of a state that brings one thing into a desired state. */
export type EnsureSteps<Current> = {
  /** Returns what is there now. Runs in test mode too, so it must not change anything. */
  readonly read: () => Current | Promise<Current>;
  /**
   * Compares it with what is desired.
   *
   * @returns the comment if there is nothing to do; `{ impossible }` with the reason if the state
   *   cannot be reached; otherwise the change
   */
  readonly plan: (
    current: Current,
  ) => string | { readonly impossible: string } | PlannedChange | Promise<string | PlannedChange>;
  /** Makes the change. Does not run in test mode. Returning false fails the state. */
  readonly apply: (current: Current) => unknown;
  /** Says whether the change had an effect: gets what `read` returns after it. */
  readonly verify?: (after: Current) => boolean;
  /** The comment if a step fails. */
  readonly failed?: FailureComment;
  /** Computes `changes` after the change, from both readings and the result of `apply`. */
  readonly changes?: (before: Current, after: Current, result: unknown) => PlainDict;
};

/** Brings one thing into a desired state: see `ensure` of `tsalt-ssh/module`. */
export type Ensure = <Current>(name: string, steps: EnsureSteps<Current>) => Promise<StateReturn>;

/**
 * Makes `ensure`.
 *
 * @param isTest whether the run is in test mode
 * @param isFailure whether an error fails the state with its message; other errors are thrown on
 */
export const ensureWith =
  (isTest: () => boolean, isFailure: (error: unknown) => error is Error): Ensure =>
  async (name, { read, plan, apply, verify, changes, failed }) => {
    const answer = (
      result: boolean | null,
      comment: string,
      made: PlainDict = {},
    ): StateReturn => ({
      name,
      changes: made,
      result,
      comment,
    });
    let comment = failed ?? `${name} could not be changed`;
    const failure = (reason?: string): StateReturn =>
      answer(false, typeof comment === 'function' ? comment(reason) : (reason ?? comment));
    try {
      const before = await read();
      const planned = await plan(before);
      if (typeof planned === 'string') return answer(true, planned);
      if ('impossible' in planned) return answer(false, planned.impossible);
      if (isTest()) return answer(null, planned.would, planned.preview ?? planned.changes);
      comment = planned.failed ?? comment;
      const result = await apply(before);
      if (result === false) return failure();
      const after = verify || changes ? await read() : before;
      if (verify && !verify(after)) return failure();
      return answer(true, planned.done, changes?.(before, after, result) ?? planned.changes);
    } catch (error) {
      if (isFailure(error)) return failure(error.message);
      throw error;
    }
  };
