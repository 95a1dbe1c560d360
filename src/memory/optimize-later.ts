import { resetFlags, setFlag } from './v8-flags.ts';

/** V8 of Node 20 and 22. Later versions have the compiler Maglev, which comes first and takes less time. */
const withBudget = /^11\.3\./;
const withCount = /^12\.4\./;

/**
 * Lets functions run nine times as often before V8 optimizes them, in threads of its own. Most runs
 * end before that is worth it: they spent a quarter to a half of their processor time on it. Versions of
 * V8 that are not known are left alone, because they print an error for a flag that they do not have.
 */
export const optimizeLater = (version = process.versions.v8): void => {
  if (withBudget.test(version)) setFlag('interrupt-budget', 600_000);
  else if (withCount.test(version)) setFlag('invocation-count-for-turbofan', 27_000);
};

/** Does work during which V8 optimizes later, in a process that sets no other flags. */
export const optimizingLater = async <Result>(work: () => Promise<Result>): Promise<Result> => {
  optimizeLater();
  try {
    return await work();
  } finally {
    // A code cache that is written at the end is refused under other flags than it was written under.
    resetFlags();
  }
};
