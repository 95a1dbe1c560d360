import { __context__ } from '../api.ts';

/** Texts that `file.accumulated` collected in this run: by file, by accumulator. */
export type Accumulators = { [file: string]: { [accumulator: string]: string[] } };

const key = 'file.accumulators';

export const accumulators = (): Accumulators => {
  __context__[key] ??= Object.create(null);
  return __context__[key] as Accumulators;
};

/** What a file's templates see as `accumulator`. */
export const accumulatedFor = (file: string): { [accumulator: string]: string[] } | undefined =>
  accumulators()[file];
