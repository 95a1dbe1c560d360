import { shellArgs } from '../../../data/python/shell-words.ts';
import { SaltInvocationError } from '../../api.ts';

/**
 * Splits a command line into words as Python's `shlex.split` does.
 *
 * @throws SaltInvocationError when a quote is not closed, or nothing follows a backslash
 */
export const splitCommandArgs = (line: string): string[] => {
  try {
    return shellArgs(line);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new SaltInvocationError(`${error.message} in: ${line}`);
  }
};

/** A word that a POSIX shell reads as exactly this text. */
export const quoteArg = (word: string): string =>
  word !== '' && /^[A-Za-z0-9_@%+=:,./-]+$/.test(word)
    ? word
    : `'${word.replaceAll("'", "'\\''")}'`;
