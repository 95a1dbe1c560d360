/**
 * Interprets the messages of a command that did not begin: login shells, PAM, sudo, su and doas
 * report the reason only as text, and in the language of the host.
 */

/** Messages of login shells and PAM that end a command before sudo, su or doas begins. */
const accountTrouble =
  /account is (?:currently )?not available|password (?:has )?expired|password change required|account (?:has )?expired|not permitted to log in/i;

/** Whether the account cannot run commands at all. */
export const isAccountTrouble = (words: string): boolean => accountTrouble.test(words);

/** Messages of a shell that runs no commands: restricted, or for a single program. */
const shellTrouble =
  /: (?:exec: )?restricted\b|unrecognized command|cannot specify .\/. in command/i;

/**
 * Whether sudo, su or doas refused a command that ended with status 1: they always print the
 * reason, whereas a broken program may end silently.
 */
export const isRefusal = (words: string): boolean =>
  words.trim() !== '' && !isAccountTrouble(words) && !shellTrouble.test(words);

/** Refusals that no password can change, in the messages of sudo, sudo-rs, su and doas. */
const noPasswordHelps =
  /not in the sudoers|not allowed to|may not run|must be owned by|setuid|effective uid|sudoers (?:sources|file)|unknown user|does not exist|unable to|Operation not permitted|Permission denied|must have a tty/i;

/** Warnings before the reason that have no effect. */
const harmlessLines = /^.*unable to resolve host.*$/gim;

const byProgram = /^(?:sudo|su|doas): /m;

/**
 * Whether a refusal may be due to a missing password. In other languages only the program's name at
 * the start of the line is recognised.
 */
export const mayWantPassword = (words: string): boolean =>
  byProgram.test(words) && !noPasswordHelps.test(words.replace(harmlessLines, ''));

/** Whether sudo works only at a terminal (`requiretty`). */
export const needsTerminal = (words: string): boolean => /must have a tty/i.test(words);

/** Whether the login shell did not find sudo, su or doas. */
export const isMissingProgram = (words: string, program: string): boolean =>
  new RegExp(`\\b${program}: (?:command )?not found|not found: ${program}\\b`, 'i').test(words) ||
  words.includes(`Unknown command: ${program}`);

const longestLine = 300;

/** Shortens lines for an excerpt. Some shells repeat the whole command, with its programs. */
export const shortLines = (words: string): string =>
  words
    .replace(/\/bin\/sh -c [^\n]{100,}/g, '/bin/sh -c …')
    .split('\n')
    .map(line => (line.length > longestLine ? `${line.slice(0, longestLine)}…` : line))
    .join('\n');
