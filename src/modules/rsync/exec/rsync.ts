/**
 * Copies folders and files by rsync, on this host or between it and others.
 *
 * @platform unix
 * @depends rsync
 */

import { basename, join } from 'node:path';
import { runChecked, runCommand } from '../../_shared/commands/run-command.ts';
import { which } from '../../_shared/commands/which.ts';
import { makeTempFolder, removeTemp } from '../../_shared/files/temporary.ts';
import { readFileSync } from '../../_shared/safe-fs/fs.ts';
import { parseSource } from '../../_shared/sources/source-url.ts';
import { salt } from '../../_shared/states/call.ts';
import { configOption, configText } from '../../_shared/states/config-option.ts';
import { CommandExecutionError, SaltInvocationError } from '../../api.ts';

export const __virtual__ = (): true | [false, string] =>
  which('rsync') !== undefined || [false, 'rsync is not installed.'];

type RsyncOptions = {
  delete?: boolean;
  force?: boolean;
  update?: boolean;
  passwordfile?: string | null;
  exclude?: string | string[] | null;
  excludefrom?: string | null;
  dryrun?: boolean;
  rsh?: string | null;
};

type RsyncAnswer = { pid: number; retcode: number; stdout: string; stderr: string };

/**
 * Copies with `rsync -avz`. What is not given is taken from the options `rsync.src`, `rsync.dst`,
 * `rsync.delete` and so on of the configuration or the pillar. A failure of rsync is in the answer.
 *
 * @param src the source: a path, `host:path`, `rsync://…`, or a file or folder `salt://…`; a
 *   folder with a trailing slash means its content
 * @param dst where to: a path, `host:path` or `rsync://…`
 * @param delete remove at the destination what the source does not have
 * @param force remove folders there even when something is in them
 * @param update leave files that are newer at the destination
 * @param passwordfile a file on this host with the password of an rsync daemon
 * @param exclude patterns to leave out
 * @param excludefrom a file on this host with such patterns; `exclude` does not count then
 * @param dryrun only report what would be copied
 * @param rsh the command for the way to another host, as `ssh -p 2222`
 * @param additional_opts further options for rsync
 * @param saltenv where `salt://…` is looked for
 * @returns `pid`, `retcode`, `stdout` and `stderr`
 * @example tsalt-ssh '*' rsync.rsync /srv/www/ backup:/srv/www delete=True exclude='[cache, tmp]'
 */
export const rsync = async (
  src: string,
  dst: string,
  {
    delete: remove = false,
    force = false,
    update = false,
    passwordfile = null,
    exclude = null,
    excludefrom = null,
    dryrun = false,
    rsh = null,
    additional_opts = null,
    saltenv = 'base',
  }: RsyncOptions & { additional_opts?: string[] | null; saltenv?: string } = {},
): Promise<RsyncAnswer> => {
  const given = { delete: remove, force, update, passwordfile, exclude, excludefrom, dryrun, rsh };
  const options = optionsOf(await completed(given));
  const from = src || (await configText('rsync.src'));
  const to = dst || (await configText('rsync.dst'));
  if (!from || !to) throw new SaltInvocationError('src and dst cannot be empty');
  const fetched = from.startsWith('salt://') ? await fetch(from, saltenv) : undefined;
  try {
    const { pid, code, stdout, stderr } = await runCommand(
      ['rsync', ...options, ...(additional_opts ?? []), fetched?.path ?? from, to],
      { plainLocale: true },
    );
    return { pid, retcode: code, stdout: stdout.trimEnd(), stderr: stderr.trimEnd() };
  } finally {
    if (fetched) removeTemp(fetched.folder);
  }
};

const completed = async (given: Required<RsyncOptions>): Promise<RsyncOptions> => {
  const pairs = Object.entries(given).map(async ([name, value]) => [
    name,
    value || (await configOption(`rsync.${name}`)),
  ]);
  return Object.fromEntries(await Promise.all(pairs));
};

const optionsOf = (wish: RsyncOptions): string[] => {
  const excluded = wish.exclude && !wish.excludefrom ? [wish.exclude].flat() : [];
  return [
    '-avz',
    ...(wish.delete ? ['--delete'] : []),
    ...(wish.force ? ['--force'] : []),
    ...(wish.update ? ['--update'] : []),
    ...(wish.rsh ? [`--rsh=${wish.rsh}`] : []),
    ...(wish.passwordfile ? ['--password-file', wish.passwordfile] : []),
    ...(wish.excludefrom ? ['--exclude-from', wish.excludefrom] : []),
    ...excluded.flatMap(pattern => ['--exclude', pattern]),
    ...(wish.dryrun ? ['--dry-run'] : []),
  ];
};

/** A file or folder of the file server, in a folder of our own. */
const fetch = async (url: string, saltenv: string): Promise<{ folder: string; path: string }> => {
  const folder = makeTempFolder('tsalt-rsync-');
  const isWhole = url.endsWith('/');
  const source = url.replace(/\/+$/, '');
  const inside = join(folder, basename(parseSource(source).path));
  try {
    if ((await salt('cp.get_file')(source, inside, { saltenv })) !== '' && !isWhole)
      return { folder, path: inside };
    const files: string[] = await salt('cp.get_dir')(source, folder, { saltenv });
    if (files.length > 0) return { folder, path: isWhole ? `${inside}/` : inside };
  } catch (error) {
    removeTemp(folder);
    throw error;
  }
  removeTemp(folder);
  throw new CommandExecutionError(`${url} does not exist`);
};

/**
 * The version of rsync.
 *
 * @example tsalt-ssh '*' rsync.version
 */
export const version = async (): Promise<string> => {
  const { stdout } = await runChecked(['rsync', '--version'], { plainLocale: true });
  const found = stdout.split('\n', 1)[0]?.split(/\s+/)[2];
  if (found) return found;
  throw new CommandExecutionError('Unable to determine rsync version');
};

/**
 * The configuration of the rsync daemon as it is.
 *
 * @param conf_path its file
 * @example tsalt-ssh '*' rsync.config
 */
export const config = async (conf_path = '/etc/rsyncd.conf'): Promise<string> => {
  try {
    return readFileSync(conf_path, 'utf8');
  } catch (error) {
    throw unreadable(conf_path, error as NodeJS.ErrnoException);
  }
};

const unreadable = (path: string, error: NodeJS.ErrnoException): CommandExecutionError => {
  const texts: Record<string, string> = {
    ENOENT: `${path} does not exist`,
    EACCES: `Unable to read ${path}, access denied`,
    EISDIR: `Unable to read ${path}, path is a directory`,
  };
  return new CommandExecutionError(
    texts[error.code ?? ''] ?? `${path} cannot be read: ${error.message}`,
    { cause: error },
  );
};
