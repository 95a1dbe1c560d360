import { shellWords } from '../data/python/shell-words.ts';

/**
 * Splits a command line into words as Python's `shlex.split` does.
 *
 * @returns undefined when a quote is not closed, or nothing follows a backslash
 */
export const splitRosterWords = (line: string): string[] | undefined => {
  try {
    return shellWords(line);
  } catch {
    return undefined;
  }
};
