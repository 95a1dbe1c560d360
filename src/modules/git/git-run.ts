import { type CommandResult, runCommand } from '../_shared/commands/run-command.ts';
import { expandUser } from '../_shared/files/file-paths.ts';
import { withSecretFile } from '../_shared/files/secret-file.ts';
import { existsSync } from '../_shared/safe-fs/fs.ts';
import { redact, splitLogin } from '../_shared/sources/url-login.ts';
import { salt } from '../_shared/states/call.ts';
import { quoteArg } from '../_shared/text/command-args.ts';
import { CommandExecutionError } from '../api.ts';

/** Returns the login from the arguments, or else from the address. */
export const loginFor = (address: string, https_user: string | null, https_pass: string | null) => {
  const { url, ...own } = splitLogin(address);
  return { url, ...(https_user || https_pass ? { https_user, https_pass } : own) };
};

/** Adds a login to an https URL; name and password must be given together. */
export const loginTo = (url: string, name?: string | null, password?: string | null): string => {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new CommandExecutionError("'https_user' and 'https_pass' are only for https:// URLs");
  if (!name || !password)
    throw new CommandExecutionError("'https_user' and 'https_pass' go together");
  return credential(url, name, password);
};

/** Returns a line of git's credential store. */
const credential = (url: string, name: string, password: string): string => {
  const { protocol, host } = new URL(url);
  return `${protocol}//${encodeURIComponent(name)}:${encodeURIComponent(password)}@${host}`;
};

export type GitOptions = {
  readonly cwd?: string | undefined;
  readonly user?: string | null | undefined;
  /** Options of git itself. */
  readonly before?: readonly string[];
  /** Private keys to log in with: paths, or `salt://`. */
  readonly identity?: readonly string[];
  /** Where keys of the file roots are. */
  readonly saltenv?: string | undefined;
  readonly ignore?: boolean;
  /** A URL with name and password, which are sent only to the server of that URL. */
  readonly login?: string;
};

// Disables protocols that would run a program, or wait for a file descriptor that does not exist.
const noPrograms = ['ext', 'fd'].flatMap(name => ['-c', `protocol.${name}.allow=never`]);

const talksToRemotes = new Set([
  'clone',
  'fetch',
  'ls-remote',
  'pull',
  'push',
  'remote',
  'submodule',
]);

/**
 * Runs git without prompts. Throws with what git says, unless `ignore`. A password in an address
 * goes to git apart from it: everybody on the host sees arguments, and git would keep it.
 */
export const git = async (
  args: readonly string[],
  options: GitOptions = {},
): Promise<CommandResult> => {
  const fromRoots = options.identity?.find(key => key.startsWith('salt://'));
  if (fromRoots !== undefined) return withKeyOf(fromRoots, args, options);
  const split: ReturnType<typeof splitLogin>[] = args.map(word =>
    talksToRemotes.has(args[0] ?? '') ? splitLogin(word) : { url: word },
  );
  const logins = [
    ...(options.login === undefined ? [] : [options.login]),
    ...split.flatMap(({ url, https_user, https_pass }) =>
      https_user === undefined || https_pass === undefined || !URL.canParse(url)
        ? []
        : [credential(url, https_user, https_pass)],
    ),
  ];
  const open = split.map(({ url }) => url);
  refuseMissingKeys(options.identity ?? []);
  if (logins.length === 0) return run(open, options);
  return withSecretFile(`${logins.join('\n')}\n`, options.user ?? undefined, path =>
    run(
      [
        '-c',
        'credential.helper=',
        '-c',
        `credential.helper=store --file=${quoteArg(path)}`,
        ...open,
      ],
      options,
    ),
  );
};

/** Fails if none of the keys exists; git uses those that do. */
const refuseMissingKeys = (keys: readonly string[]): void => {
  if (keys.length === 0 || keys.some(key => existsSync(expandUser(key)))) return;
  throw new CommandExecutionError(
    `Unable to authenticate using identity file:\n\nThe following identity file(s) were not found: ${keys.join(', ')}`,
  );
};

/**
 * Copies a key from the file roots to the host while git runs, readable only for the user who runs
 * git.
 */
const withKeyOf = async (
  url: string,
  args: readonly string[],
  options: GitOptions,
): Promise<CommandResult> => {
  const key: unknown = await salt('cp.get_file_str')(url, options.saltenv ?? 'base');
  if (typeof key !== 'string') throw new CommandExecutionError(`identity ${url} was not found`);
  return withSecretFile(key, options.user ?? undefined, path =>
    git(args, {
      ...options,
      identity: options.identity?.map(each => (each === url ? path : each)) ?? [],
    }),
  );
};

/** Commands that may take long; others are queries. */
const shown = new Set(['clone', 'fetch', 'pull', 'push', 'checkout', 'submodule', 'lfs']);

const run = async (args: readonly string[], options: GitOptions): Promise<CommandResult> => {
  const keys = (options.identity ?? []).flatMap(key => ['-i', quoteArg(key)]);
  const ssh = [
    'ssh',
    '-oBatchMode=yes',
    ...keys,
    ...(keys.length > 0 ? ['-oIdentitiesOnly=yes'] : []),
  ];
  const result = await runCommand(['git', ...(options.before ?? []), ...noPrograms, ...args], {
    cwd: options.cwd,
    runas: options.user ?? undefined,
    plainLocale: true,
    live: shown.has(args[0] ?? '') && redact,
    env: {
      GIT_TERMINAL_PROMPT: '0',
      GIT_SSH_COMMAND: ssh.join(' '),
      // Reading a clone must not rewrite its index: a run without changes must not modify anything.
      GIT_OPTIONAL_LOCKS: '0',
    },
  });
  if (result.code !== 0 && !options.ignore) {
    const said = redact(result.stderr.trim() || result.stdout.trim());
    throw new CommandExecutionError(`Command 'git ${redact(args.join(' '))}' failed: ${said}`);
  }
  return result;
};

/** Runs git and returns its output without the newline at the end. */
export const gitText = async (args: readonly string[], options: GitOptions = {}): Promise<string> =>
  (await git(args, options)).stdout.replace(/\n$/, '');

/** Refuses a word that git would parse as an option. */
export const plainArg = (word: string, what: string): string => {
  if (word.startsWith('-')) throw new CommandExecutionError(`'${word}' is not a valid ${what}`);
  return word;
};
