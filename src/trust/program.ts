import { existsSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { checkTrusted } from './check.ts';

/** Programs whose first argument is another program's text. */
const interpreters = /^(?:sh|bash|dash|ksh|zsh|node|nodejs|perl|ruby|php|python[\d.]*)$/;

/**
 * Refuses a program, or the script that an interpreter is started with, that another user could
 * write. A name that is looked up in PATH is not checked: PATH is the caller's own.
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

/** The words of a shell command up to its first operator, without their quotes. */
export const commandWords = (command: string): string[] => {
  const [first = ''] = command.split(/[|&;<>()]/);
  return [...first.matchAll(/'([^']*)'|"([^"]*)"|[^\s'"]+/g)].map(
    ([word, single, double]) => single ?? double ?? word,
  );
};
