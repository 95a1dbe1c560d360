import { CommandExecutionError } from '../api.ts';
import { type CommandResult, runCommand } from './run-command.ts';

export type GitOptions = {
  readonly cwd?: string | undefined;
  readonly user?: string | null | undefined;
  /** Private keys to log in with, by path. */
  readonly identity?: readonly string[];
  readonly ignore?: boolean;
};

// Addresses that would run a program, or wait at a descriptor that is not there.
const noPrograms = ['ext', 'fd'].flatMap(name => ['-c', `protocol.${name}.allow=never`]);

/** Runs git without prompts. Throws with what git says, unless `ignore`. */
export const git = async (
  args: readonly string[],
  options: GitOptions = {},
): Promise<CommandResult> => {
  const keys = (options.identity ?? []).flatMap(key => ['-i', quote(key)]);
  const ssh = [
    'ssh',
    '-oBatchMode=yes',
    ...keys,
    ...(keys.length > 0 ? ['-oIdentitiesOnly=yes'] : []),
  ];
  const result = await runCommand(['git', ...noPrograms, ...args], {
    cwd: options.cwd,
    runas: options.user ?? undefined,
    plainLocale: true,
    env: {
      GIT_TERMINAL_PROMPT: '0',
      GIT_SSH_COMMAND: ssh.join(' '),
      // Looking at a clone must not rewrite its index: a run without changes leaves no trace.
      GIT_OPTIONAL_LOCKS: '0',
    },
  });
  if (result.code !== 0 && !options.ignore) {
    const said = redact(result.stderr.trim() || result.stdout.trim());
    throw new CommandExecutionError(`Command 'git ${redact(args.join(' '))}' failed: ${said}`);
  }
  return result;
};

/** What git prints, without the newline at the end. */
export const gitText = async (args: readonly string[], options: GitOptions = {}): Promise<string> =>
  (await git(args, options)).stdout.replace(/\n$/, '');

/** Refuses what git would take for an option. */
export const plainWord = (word: string, what: string): string => {
  if (word.startsWith('-')) throw new CommandExecutionError(`'${word}' is not a valid ${what}`);
  return word;
};

const quote = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;

export const redact = (text: string): string =>
  text.replace(/([a-z][a-z0-9+.-]*:\/\/)[^/@\s]+@/gi, '$1<redacted>@');
