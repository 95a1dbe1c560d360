import { AssertionError } from 'node:assert';
import { TsaltError } from '../../src/protocol/error.ts';

/** The fault that this work ends by. Throws when it ends well, or by an error that is none of ours. */
export const fault = async (work: Promise<unknown>): Promise<TsaltError> => {
  const error: unknown = await work.then(
    () => new AssertionError({ message: 'it ended without a fault' }),
    (reason: unknown) => reason,
  );
  if (!(error instanceof TsaltError)) throw error;
  return error;
};
