/** Work that stops after each step, so that its caller may let other work run in between. */
export type Steps<Result> = Generator<undefined, Result, undefined>;

/** Does all steps at once and returns their result. */
export const runSteps = <Result>(steps: Steps<Result>): Result => {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
};
