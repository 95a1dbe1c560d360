import { TsaltError } from '../protocol/error.ts';

/** Runs work on the user's configuration; errors in it count as usage errors. */
export const asUsage = async <T>(work: () => T | Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof TsaltError) || error.kind === 'usage') throw error;
    const { code, message, at, hint, excerpt } = error;
    throw new TsaltError(code, message, { kind: 'usage', at, hint, excerpt, cause: error });
  }
};
