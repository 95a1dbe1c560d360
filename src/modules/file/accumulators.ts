import { getContext, type Plain } from '../api.ts';

/**
 * Strings, or other values for templates, that `file.accumulated` collected in this run: by file, by
 * accumulator.
 */
export type Accumulators = { [file: string]: { [accumulator: string]: Plain[] } };

/** The key in `__context__`, which is preserved when a run continues after a restart. */
export const accumulatorsKey = 'file.accumulators';

export const accumulators = (): Accumulators => {
  const { context } = getContext();
  context[accumulatorsKey] ??= Object.create(null);
  return context[accumulatorsKey] as Accumulators;
};

/** The data that a file's templates receive as `accumulator`. */
export const accumulatedFor = (file: string): { [accumulator: string]: Plain[] } | undefined =>
  accumulators()[file];
