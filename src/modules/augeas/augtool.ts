import { isAbsolute } from 'node:path';
import { runCommand } from '../_shared/commands/run-command.ts';
import { isDir } from '../_shared/files/file-paths.ts';
import { CommandExecutionError, log } from '../api.ts';

/** Which lenses are used: all that augeas has, or one lens for one file. */
export type AugeasScope = {
  readonly loadPath?: string | null | undefined;
  readonly lens?: string | null | undefined;
  /** The file for the single lens, with or without the prefix `/files`. */
  readonly context?: string | null | undefined;
};

/** A command of augtool with its arguments. */
export type AugeasCommand = readonly [name: string, ...args: string[]];

export type AugeasResult = {
  readonly stdout: string;
  /** The error message; empty on success. */
  readonly error: string;
};

/** Runs commands of augtool in one session. They go to it by a pipe: values may be secrets. */
export const runAugtool = async (
  commands: readonly AugeasCommand[],
  { loadPath = null, lens = null, context = null }: AugeasScope = {},
): Promise<AugeasResult> => {
  const folders = foldersIn(loadPath);
  const { stdout, stderr } = await runCommand(
    [
      'augtool',
      ...(folders ? ['--include', folders] : []),
      ...(lens && context
        ? ['--noautoload', '--transform', `${lens} incl ${context.replace(/^\/files/, '')}`]
        : []),
    ],
    {
      cwd: '/',
      env: { LC_ALL: 'C.UTF-8', LANGUAGE: 'C' },
      stdin: commands.map(words => `${words.map(quote).join(' ')}\n`).join(''),
    },
  );
  return { stdout, error: stderr.trim() };
};

const escapes: Readonly<Record<string, string>> = { '\n': '\\n', '\t': '\\t', '\r': '\\r' };

const quote = (word: string, at: number): string =>
  at === 0
    ? word
    : `"${word.replace(/["\\]/g, found => `\\${found}`).replace(/[\n\t\r]/g, found => escapes[found] ?? '')}"`;

/** Returns the existing folders of a load path. */
const foldersIn = (loadPath: string | null): string =>
  (loadPath ?? '')
    .split(':')
    .filter(folder => {
      const isUseful = isAbsolute(folder) && isDir(folder);
      if (!isUseful && folder !== '') log.info(`Invalid augeas load_path entry: ${folder} removed`);
      return isUseful;
    })
    .join(':');

type Nodes = [path: string, value: string | null][];

/** Parses the output of `match` and `get`. A value may span several lines. */
export const readNodes = (text: string): Nodes => {
  const nodes: Nodes = [];
  for (const line of text.replace(/\n$/, '').split('\n')) {
    const [, path, none, value] =
      /^(\/.*?)(?: = \(none\)| (\(none\)|\(o\))| = (.*))?$/.exec(line) ?? [];
    const last = nodes.at(-1);
    if (path !== undefined && line !== path) nodes.push([path, none ? null : (value ?? null)]);
    else if (last && line !== '  (no matches)') last[1] = `${last[1] ?? ''}\n${line}`;
  }
  return nodes;
};

/** Parses the output of `print`, in which values are quoted. */
export const readPrinted = (text: string): Nodes =>
  text
    .split('\n')
    .filter(line => line.startsWith('/'))
    .map(line => {
      const [, path = line, value] = /^(.*?) = "(.*)"$/.exec(line) ?? [];
      return [path, value === undefined ? null : unquoted(value)];
    });

const unquoted = (text: string): string =>
  text.replace(/\\(.)/g, (_, letter: string) => ({ n: '\n', t: '\t', r: '\r' })[letter] ?? letter);

/**
 * Throws the errors of failed commands; the message that the file cannot be saved is used only if
 * there is no other.
 */
const throwFault = (error: string): void => {
  const words = error
    .replace(/(?:^error: Failed to execute command\n)?^saving failed.*$/m, '')
    .replace(/^error: /gm, '')
    .trim();
  if (error !== '') throw new CommandExecutionError(words || 'Unable to save to file!');
};

const save: readonly AugeasCommand[] = [['save'], ['match', '/augeas/events/saved']];

/**
 * Returns the files that commands would change, without writing them.
 *
 * @throws CommandExecutionError if one of them fails, or a file would no longer match its lens
 */
export const wouldSave = async (
  commands: readonly AugeasCommand[],
  scope: AugeasScope = {},
): Promise<{ files: string[]; stdout: string }> => {
  const { stdout, error } = await runAugtool(
    [['set', '/augeas/save', 'noop'], ...commands, ...save, ['errors']],
    scope,
  );
  throwFault(error);
  const saved = readNodes(stdout).filter(([path]) => path.startsWith('/augeas/events/saved'));
  return { files: saved.map(([, file]) => String(file)), stdout };
};

/** Runs commands, saves if all of them succeed and something changed, and returns their output. */
export const runAndSave = async (
  commands: readonly AugeasCommand[],
  scope: AugeasScope = {},
): Promise<string> => {
  const { files, stdout } = await wouldSave(commands, scope);
  if (files.length === 0) return stdout;
  const done = await runAugtool([...commands, ['save']], scope);
  throwFault(done.error);
  return done.stdout;
};
