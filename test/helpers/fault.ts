import { AssertionError } from 'node:assert';
import { TsaltError } from '../../src/protocol/error.ts';

/**
 * Returns the error that ends this work. Throws if it succeeds, or fails with an error that is not
 * ours.
 */
export const fault = async (work: Promise<unknown>): Promise<TsaltError> => {
  const error: unknown = await work.then(
    () => new AssertionError({ message: 'it ended without a fault' }),
    (reason: unknown) => reason,
  );
  if (!(error instanceof TsaltError)) throw error;
  return error;
};
