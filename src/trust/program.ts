import { existsSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { checkTrusted } from './check.ts';

/** Programs whose first argument is a script. */
const interpreters = /^(?:sh|bash|dash|ksh|zsh|node|nodejs|perl|ruby|php|python[\d.]*)$/;

/**
 * Refuses a program, or the script of an interpreter, that another user could write. A name that is
 * looked up in PATH is not checked, since PATH belongs to the caller.
 *
 * @param argv the program and its arguments
 * @param dir the folder in which it is started
 * @param what its name in messages, with an article
 * @throws TsaltError `untrusted`
 */
export const checkProgram = (
  [program = '', ...args]: readonly string[],
  dir: string,
  what: string,
): void => {
  if (program.includes('/')) checkTrusted(resolve(dir, program), what);
  if (!interpreters.test(basename(program))) return;
  const script = args.find(word => !word.startsWith('-'));
  if (script !== undefined && existsSync(resolve(dir, script)))
    checkTrusted(resolve(dir, script), what);
};

/** Splits a shell command up to its first operator into words, without their quotes. */
export const commandArgs = (command: string): string[] => {
  const [first = ''] = command.split(/[|&;<>()]/);
  return [...first.matchAll(/'([^']*)'|"([^"]*)"|[^\s'"]+/g)].map(
    ([word, single, double]) => single ?? double ?? word,
  );
};
