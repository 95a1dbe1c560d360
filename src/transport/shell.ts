import { TsaltError } from '../protocol/error.ts';
import { readable } from './faults.ts';

/**
 * One word for a shell that nobody knows: sh, bash, zsh, fish and csh all read what stands
 * between single quotes as it is, save for these few characters.
 * @param key the roster key it comes from, for the message
 * @throws {TsaltError} when the value has a character that some shell would not leave alone
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

/** Any text as one word of a POSIX shell. */
export const posixQuote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** A POSIX script of one line with its arguments `$1` …, started from any login shell. */
export const shCommand = (script: string, args: readonly string[]): string =>
  ['/bin/sh', '-c', quoteForAnyShell(script, 'script'), 'tsalt-ssh', ...args].join(' ');
