import { TsaltError } from '../protocol/error.ts';
import { readable } from './unreachable.ts';

/**
 * Quotes a string as one argument for an unknown shell: sh, bash, zsh, fish and csh all read text
 * between single quotes literally, except for these few characters.
 * @param key the roster key that contains the value, for the message
 * @throws {TsaltError} if the value contains a character that some shell would change
 */
export const quoteForAnyShell = (value: string, key: string): string => {
  if (/['\\!\0-\x1f\x7f]/.test(value))
    throw new TsaltError(
      'roster-value',
      `The ${key} ${JSON.stringify(readable(value, 80))} has a character that cannot be passed on.`,
      {
        hint: "Not allowed are quotes ('), backslashes, exclamation marks and control characters.",
      },
    );
  return `'${value}'`;
};

/** Quotes any string as one argument of a POSIX shell. */
export const posixQuote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** Wraps a one-line POSIX script with its arguments `$1` …, for any login shell. */
export const shCommand = (script: string, args: readonly string[]): string =>
  ['/bin/sh', '-c', quoteForAnyShell(script, 'script'), 'tsalt-ssh', ...args].join(' ');
