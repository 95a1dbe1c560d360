import { utimesSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { privateDir, writePrivate } from '../../bundle/private-dir.ts';
import { loadConfig } from '../../config/load.ts';
import { TsaltError } from '../../protocol/error.ts';
import type { Given } from '../../request/given.ts';
import { exitCode } from '../exit-code.ts';
import { printText } from '../print-text.ts';
import { withSaltfile } from '../saltfile.ts';
import { type CompletedCommands, indexText } from './index-text.ts';
import { pruneIndexes } from './prune-indexes.ts';
import { completionScript } from './scripts.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** How each shell writes a string that nothing is replaced in. */
const quotes = {
  bash: (text: string) => `'${text.replaceAll("'", "'\\''")}'`,
  zsh: (text: string) => `'${text.replaceAll("'", "'\\''")}'`,
  fish: (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`,
};

/**
 * `completion SHELL`: prints the script that a shell sources to complete command lines. That script
 * calls `completion index NAME KEY`, which writes the index of the project.
 *
 * @throws TsaltError `usage-words`
 */
export const completion = async (
  words: readonly string[],
  given: Given,
  env: Env,
  commands: CompletedCommands,
): Promise<number> => {
  const [shell = '', ...more] = words;
  if (shell === 'index' && more.length === 2)
    return writeIndex({ name: more[0] ?? '', key: more[1] ?? '' }, given, env, commands);
  if (!isShell(shell) || more.length > 0)
    throw new TsaltError(
      'usage-words',
      shell === '' ? 'Name the shell.' : `No completion exists for '${words.join(' ')}'.`,
      { hint: `tsalt-ssh completion ${Object.keys(quotes).join('|')}` },
    );
  const answer = quotes[shell](completionScript('answer'));
  return printText(completionScript(shell).replace('@answer@', () => answer));
};

const isShell = (word: string): word is keyof typeof quotes => Object.hasOwn(quotes, word);

const writeIndex = async (
  { name, key }: { name: string; key: string },
  typed: Given,
  env: Env,
  commands: CompletedCommands,
): Promise<number> => {
  if (!/^[^/\0]{1,250}$/.test(name) || /[\n\r\t\0]/.test(key))
    throw new TsaltError('usage-words', 'This is not the name of an index.');
  // A source that changes after this moment is newer than the index.
  const begun = new Date();
  const given = await withSaltfile(typed, process.cwd(), env).catch(() => typed);
  const path = typeof given.options.config === 'string' ? { path: given.options.config } : {};
  const config = await attempt(() => loadConfig({ cwd: process.cwd(), env, ...path }));
  const text = await indexText(key, {
    given,
    commands,
    env,
    ...(config === undefined ? {} : { config }),
  });
  const cache = env.XDG_CACHE_HOME || join(env.HOME ?? homedir(), '.cache');
  const folder = privateDir(join(privateDir(join(cache, 'tsalt-ssh')), 'completion'));
  pruneIndexes(folder);
  const file = join(folder, name);
  await writePrivate(file, text);
  utimesSync(file, begun, begun);
  return exitCode.ok;
};

/** Returns undefined on failure: a run reports the reason. */
const attempt = <T>(work: () => T): T | undefined => {
  try {
    return work();
  } catch {
    return undefined;
  }
};
