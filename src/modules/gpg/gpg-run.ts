import { userInfo } from 'node:os';
import { join } from 'node:path';
import { type CommandResult, runCommand } from '../_shared/commands/run-command.ts';
import { which } from '../_shared/commands/which.ts';
import { isDir } from '../_shared/files/file-paths.ts';
import { homeOf, primaryGid, uidOf } from '../_shared/files/owner-names.ts';
import { makeTempFolder, removeTemp } from '../_shared/files/temporary.ts';
import { chownSync, mkdirSync, writeFileSync } from '../_shared/safe-fs/fs.ts';
import { hasFunction, salt } from '../_shared/states/call.ts';
import { CommandExecutionError, SaltInvocationError } from '../api.ts';

/** The account whose keys are used, and their folder if it is not the default one. */
export type GpgWhere = {
  readonly user?: string | null | undefined;
  readonly gnupghome?: string | null | undefined;
};

type GpgInput = {
  readonly input?: string | Uint8Array;
  /** Sent before the input, through the same pipe. */
  readonly passphrase?: string | undefined;
};

/** The result of gpg: its messages, and its status lines as `[keyword, rest]`. */
export type GpgResult = CommandResult & {
  readonly status: readonly (readonly [key: string, value: string])[];
  readonly words: string;
};

export const hasGpg = (): true | [false, string] =>
  which('gpg') !== undefined || [false, 'gpg is not installed.'];

/**
 * Returns the account that gpg runs as; undefined for this process's account. The account `salt`
 * need not exist.
 */
const accountOf = (user: string | null | undefined): string | undefined => {
  if (!user) return undefined;
  const uid = uidOf(user);
  if (uid === undefined && user === 'salt') return undefined;
  if (uid === undefined) throw new SaltInvocationError(`User ${user} does not exist`);
  return user === 'salt' || uid === process.getuid?.() ? undefined : user;
};

/** Returns the folder of the keys. */
export const gpgHome = ({ user, gnupghome }: GpgWhere): string => {
  if (gnupghome) return gnupghome;
  if (user === 'salt') return '/etc/salt/gpgkeys';
  const account = accountOf(user);
  const home = account === undefined ? userInfo().homedir : homeOf(account);
  return join(home ?? '/', '.gnupg');
};

/** Makes the folder of the keys, for its account alone. */
export const makeGpgHome = (where: GpgWhere): void => {
  const home = gpgHome(where);
  if (isDir(home)) return;
  mkdirSync(home, { recursive: true, mode: 0o700 });
  giveTo(accountOf(where.user), home);
};

const giveTo = (account: string | undefined, ...paths: string[]): void => {
  if (account === undefined) return;
  for (const path of paths) chownSync(path, uidOf(account) ?? -1, primaryGid(account) ?? -1);
};

/** Runs gpg on somebody's keys, without a terminal. */
export const runGpg = async (
  args: readonly string[],
  where: GpgWhere,
  { input, passphrase }: GpgInput = {},
): Promise<GpgResult> => {
  const secret = passphrase === undefined ? [] : ['--pinentry-mode', 'loopback'];
  const runas = accountOf(where.user);
  const result = await runCommand(
    [
      'gpg',
      ...secret,
      ...['--status-fd', '2', '--no-tty', '--no-verbose', '--fixed-list-mode', '--batch'],
      ...['--with-colons', '--homedir', gpgHome(where)],
      ...(passphrase === undefined ? [] : ['--passphrase-fd', '0']),
      ...args,
    ],
    { plainLocale: true, cwd: '/', stdin: pipeOf(input, passphrase), ...(runas ? { runas } : {}) },
  );
  const lines = result.stderr.split('\n');
  return {
    ...result,
    status: lines.flatMap(line => {
      const [, key = '', value = ''] = /^\[GNUPG:\] (\S+) ?(.*)$/.exec(line) ?? [];
      return key === '' ? [] : [[key, value] as const];
    }),
    words: lines.filter(line => line !== '' && !line.startsWith('[GNUPG:]')).join('\n'),
  };
};

const pipeOf = (input: GpgInput['input'] = '', passphrase?: string): Buffer =>
  Buffer.concat([
    Buffer.from(passphrase === undefined ? '' : `${passphrase}\n`),
    typeof input === 'string' ? Buffer.from(input) : input,
  ]);

/** Returns the pillar's `gpg_passphrase`; undefined if there is none. */
export const gpgPassphrase = async (): Promise<string | undefined> => {
  const value: unknown = hasFunction('pillar.get')
    ? await salt('pillar.get')('gpg_passphrase', null)
    : null;
  if (value === null || value === undefined || value === '') return undefined;
  if (/[\r\n\0]/.test(String(value)))
    throw new CommandExecutionError('The gpg_passphrase of the pillar has more than one line.');
  return String(value);
};

/**
 * Returns the passphrase, or undefined if it is not used. Throws if it is used but missing in the
 * pillar.
 */
export const neededPassphrase = async (isUsed: boolean): Promise<string | undefined> => {
  if (!isUsed) return undefined;
  const found = await gpgPassphrase();
  if (found === undefined) throw new SaltInvocationError('gpg_passphrase not available in pillar.');
  return found;
};

/** Calls `work` with a folder that gpg's account can write to and that contains these files. */
export const withGpgFolder = async <T>(
  { user }: GpgWhere,
  files: Readonly<Record<string, Uint8Array>>,
  work: (folder: string) => Promise<T>,
): Promise<T> => {
  const account = accountOf(user);
  const folder = makeTempFolder('.tsalt-');
  try {
    for (const [name, content] of Object.entries(files)) {
      writeFileSync(join(folder, name), content, { mode: 0o600, flag: 'wx' });
      giveTo(account, join(folder, name));
    }
    giveTo(account, folder);
    return await work(folder);
  } finally {
    removeTemp(folder);
  }
};
