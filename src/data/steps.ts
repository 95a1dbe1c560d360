import type { Turns } from '../protocol/turns.ts';

/** Work that stops after each step, so that its caller may let other work run in between. */
export type Steps<Result> = Generator<undefined, Result, undefined>;

/** Does all steps at once and returns their result. */
export const runSteps = <Result>(steps: Steps<Result>): Result => {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
};

/** Does all steps, with other work in between, and returns their result. */
export const runInTurns = async <Result>(steps: Steps<Result>, turns: Turns): Promise<Result> => {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    if (turns.areOver) await turns.pause();
  }
};
