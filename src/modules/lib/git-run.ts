import { CommandExecutionError } from '../api.ts';
import { type CommandResult, runCommand } from './run-command.ts';
import { withSecretFile } from './secret-file.ts';

/** What every function of git takes that may have to log in. */
export type Common = {
  user?: string | null;
  identity?: string | string[] | null;
  https_user?: string | null;
  https_pass?: string | null;
};

/** How git runs for such a call; `url` is what it logs in to. */
export const runOptions = (
  cwd: string | undefined,
  { user, identity, https_user, https_pass }: Common,
  url?: string,
): GitOptions => ({
  cwd,
  user,
  identity: [identity ?? []].flat(),
  ...(https_user || https_pass ? { login: loginTo(url ?? '', https_user, https_pass) } : {}),
});

const loginTo = (url: string, name?: string | null, password?: string | null): string => {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new CommandExecutionError("'https_user' and 'https_pass' are only for https:// URLs");
  if (!name || !password)
    throw new CommandExecutionError("'https_user' and 'https_pass' go together");
  const { protocol, host } = new URL(url);
  return `${protocol}//${encodeURIComponent(name)}:${encodeURIComponent(password)}@${host}`;
};

export type GitOptions = {
  readonly cwd?: string | undefined;
  readonly user?: string | null | undefined;
  /** Private keys to log in with, by path. */
  readonly identity?: readonly string[];
  readonly ignore?: boolean;
  /** A URL with name and password: given to the server of that URL, and to no other. */
  readonly login?: string;
};

// Addresses that would run a program, or wait at a descriptor that is not there.
const noPrograms = ['ext', 'fd'].flatMap(name => ['-c', `protocol.${name}.allow=never`]);

/** Runs git without prompts. Throws with what git says, unless `ignore`. */
export const git = async (
  args: readonly string[],
  options: GitOptions = {},
): Promise<CommandResult> =>
  options.login === undefined
    ? run(args, options)
    : withSecretFile(`${options.login}\n`, options.user ?? undefined, path =>
        run(
          [
            '-c',
            'credential.helper=',
            '-c',
            `credential.helper=store --file=${quote(path)}`,
            ...args,
          ],
          options,
        ),
      );

const run = async (args: readonly string[], options: GitOptions): Promise<CommandResult> => {
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
