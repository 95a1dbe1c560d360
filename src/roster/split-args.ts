import { shellArgs } from '../data/python/shell-words.ts';

/**
 * Splits a command line into words as Python's `shlex.split` does.
 *
 * @returns undefined for an unclosed quote, or a backslash at the end
 */
export const splitRosterArgs = (line: string): string[] | undefined => {
  try {
    return shellArgs(line);
  } catch {
    return undefined;
  }
};
