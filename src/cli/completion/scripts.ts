import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const names = ['bash', 'zsh', 'fish', 'answer'] as const;

type Name = (typeof names)[number];

/** Set by the build: the package does not contain the scripts as files. */
declare const completionScripts: Readonly<Record<Name, string>>;

const folder = (): string => dirname(fileURLToPath(import.meta.url));

/** Reads all scripts from their sources, for the build. */
export const readCompletionScripts = (from = folder()): Readonly<Record<Name, string>> => {
  const read = names.map(name => [name, readFileSync(join(from, `${name}.sh`), 'utf8')]);
  return Object.fromEntries(read);
};

/** Returns the script of a shell, or `answer`, which all of them call. */
export const completionScript = (name: Name): string =>
  typeof completionScripts === 'undefined'
    ? readCompletionScripts()[name]
    : completionScripts[name];
