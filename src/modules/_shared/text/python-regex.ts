import { pythonPattern } from '../../../data/python/python-pattern.ts';
import { expandReplacement } from '../../../data/python/python-replacement.ts';
import { getOwn } from '../../../protocol/plain.ts';
import { CommandExecutionError } from '../../api.ts';

/** Python's `re` flags by their numbers, names and letters. */
const flagBits: Readonly<Record<string, number>> = {
  IGNORECASE: 2,
  I: 2,
  LOCALE: 4,
  L: 4,
  MULTILINE: 8,
  M: 8,
  DOTALL: 16,
  S: 16,
  UNICODE: 32,
  U: 32,
  VERBOSE: 64,
  X: 64,
  ASCII: 256,
  A: 256,
};

export const MULTILINE = 8;
export const DOTALL = 16;
export const ASCII = 256;

/** Converts flags from an SLS: a number, a name, or a list of names. Throws for an unknown name. */
export const regexFlags = (flags: unknown): number => {
  if (typeof flags === 'number') return flags;
  const names = typeof flags === 'string' ? [flags] : flags;
  if (!Array.isArray(names))
    throw new CommandExecutionError(
      `Invalid re flags: "${String(flags)}", must be given either as a single flag string, a list of strings, as an integer, or as an re flag`,
    );
  return names.reduce((bits: number, name: unknown) => {
    const key = String(name).toUpperCase();
    if (!Object.hasOwn(flagBits, key))
      throw new CommandExecutionError(`Invalid re flag given: ${String(name)}`);
    return bits | (getOwn(flagBits, key) ?? 0);
  }, 0);
};

/**
 * A Python regular expression as JavaScript's. Throws `CommandExecutionError` for a pattern
 * that is broken or that JavaScript cannot express.
 */
export const pythonRegex = (pattern: string, flags = 0, jsFlags = ''): RegExp => {
  try {
    return pythonPattern(pattern, lettersOf(flags), jsFlags);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new CommandExecutionError(`Invalid regular expression "${pattern}": ${error.message}`);
  }
};

const lettersOf = (flags: number): string =>
  Object.entries({ i: 2, m: MULTILINE, s: DOTALL, x: 64, a: ASCII })
    .map(([letter, bit]) => (flags & bit ? letter : ''))
    .join('');

/** Whether the expression matches at the start of a text, as Python's `re.match`. */
export const pythonMatcher = (pattern: string): ((text: string) => boolean) => {
  const regex = pythonRegex(pattern, 0, 'y');
  return text => {
    regex.lastIndex = 0;
    return regex.test(text);
  };
};

/**
 * Converts a replacement string for Python's `re.sub` to a function for `String.replace`. Throws
 * `CommandExecutionError` for an unknown escape or group.
 */
export const pythonReplacement =
  (replacement: string) =>
  (...found: unknown[]): string => {
    const named = found.at(-1);
    const groups = typeof named === 'object' && named !== null ? named : {};
    const match = found.slice(
      0,
      found.findIndex(part => typeof part === 'number'),
    );
    try {
      return expandReplacement(
        replacement,
        match as (string | undefined)[],
        groups as Readonly<Record<string, string | undefined>>,
      );
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      throw new CommandExecutionError(`The text cannot be replaced: ${error.message}`);
    }
  };

/** `re.escape`. */
export const escapeRegex = (text: string): string =>
  text.replace(/[\\^$.|?*+()[\]{}\-#&~\s]/g, '\\$&');
