/**
 * Copies of folders by rsync.
 *
 * @depends rsync
 */
import { join } from 'node:path';
import { type Plain, SaltInvocationError } from '../api.ts';
import { salt } from '../lib/call.ts';
import { configOption } from '../lib/config-option.ts';
import { textList } from '../lib/python-text.ts';
import { readOr } from '../lib/read-file.ts';
import { runCommand } from '../lib/run-command.ts';
import { makeTempFolder, removeTemp } from '../lib/temporary.ts';
import { which } from '../lib/which.ts';

export const __virtual__ = (): true | [false, string] =>
  which('rsync') !== undefined || [false, 'rsync is not installed.'];

type Options = {
  delete?: boolean;
  force?: boolean;
  update?: boolean;
  passwordfile?: string | null;
  exclude?: Plain;
  excludefrom?: string | null;
  dryrun?: boolean;
  rsh?: string | null;
  additional_opts?: string[] | null;
};

const wordsOf = (options: Options): string[] => {
  const { passwordfile, exclude, excludefrom, rsh, additional_opts } = options;
  const patterns = excludefrom || !exclude ? [] : textList(exclude);
  return [
    '-avz',
    ...(options.delete ? ['--delete'] : []),
    ...(options.force ? ['--force'] : []),
    ...(options.update ? ['--update'] : []),
    ...(rsh ? [`--rsh=${rsh}`] : []),
    ...(passwordfile ? ['--password-file', passwordfile] : []),
    ...(excludefrom ? ['--exclude-from', excludefrom] : []),
    ...patterns.flatMap(pattern => ['--exclude', pattern]),
    ...(options.dryrun ? ['--dry-run'] : []),
    ...(additional_opts ?? []),
  ];
};

/** What is not given may stand in the configuration: `rsync.src`, `rsync.delete` … */
const withDefaults = async <T extends object>(given: T): Promise<T> => {
  const all = { ...given };
  for (const [key, value] of Object.entries(given))
    if (!value) Object.assign(all, { [key]: (await configOption(`rsync.${key}`)) ?? value });
  return all;
};

type Result = { pid: number; retcode: number; stdout: string; stderr: string };

/**
 * Copies a folder or file to another place, what differs only.
 *
 * @param src the source; of a folder that ends in `/` only what is in it; `salt://…` too
 * @param dst the target
 * @param delete true: what the source does not have goes
 * @param force true: a folder that is not empty makes room for a file
 * @param update true: what is newer in the target stays
 * @param passwordfile a file with the password for a daemon of rsync
 * @param exclude what to leave out: a pattern or several
 * @param excludefrom a file of such patterns, which takes the place of `exclude`
 * @param dryrun true: only tell
 * @param rsh the remote shell, `ssh -p 2222`
 * @param additional_opts further options of rsync
 * @param saltenv the environment of a source `salt://…`
 * @example tsalt-ssh '*' rsync.rsync /srv/web/ /srv/copy delete=True exclude='*.tmp'
 */
export const rsync = async (
  src: string,
  dst: string,
  {
    delete: extraneous = false,
    force = false,
    update = false,
    passwordfile = null,
    exclude = null,
    excludefrom = null,
    dryrun = false,
    rsh = null,
    additional_opts = null,
    saltenv = 'base',
  }: Options & { saltenv?: string } = {},
): Promise<Result> => {
  const {
    src: from,
    dst: to,
    ...options
  } = await withDefaults({
    src,
    dst,
    delete: extraneous,
    force,
    update,
    passwordfile,
    exclude,
    excludefrom,
    dryrun,
    rsh,
  });
  if (!from || !to) throw new SaltInvocationError('src and dst cannot be empty');
  const words = wordsOf({ ...options, additional_opts });
  if (!from.startsWith('salt://')) return run([...words, from, to]);
  const folder = makeTempFolder('tsalt-rsync-');
  try {
    return await run([...words, await fetched(from, folder, saltenv), to]);
  } finally {
    removeTemp(folder);
  }
};

const fetched = async (source: string, folder: string, saltenv: string): Promise<string> => {
  const path = source.slice('salt://'.length).replace(/\/+$/, '');
  const files: string[] = await salt('cp.get_dir')(`salt://${path}`, folder, { saltenv });
  if (files.length > 0)
    return `${join(folder, path.split('/').at(-1) ?? '')}${source.endsWith('/') ? '/' : ''}`;
  const file = join(folder, path.split('/').at(-1) ?? '');
  if (!(await salt('cp.get_file')(source, file, { saltenv })))
    throw new SaltInvocationError(`${source} does not exist`);
  return file;
};

const run = async (words: readonly string[]): Promise<Result> => {
  const { pid, code, stdout, stderr } = await runCommand(['rsync', ...words], {
    plainLocale: true,
    cwd: '/',
  });
  return { pid, retcode: code, stdout: stdout.trim(), stderr: stderr.trim() };
};

/**
 * The version of rsync.
 *
 * @example tsalt-ssh '*' rsync.version
 */
export const version = async (): Promise<string> =>
  /version (\S+)/.exec((await run(['--version'])).stdout)?.[1] ?? '';

/**
 * The configuration of rsync's daemon.
 *
 * @param conf_path its file
 * @example tsalt-ssh '*' rsync.config
 */
export const config = async (conf_path = '/etc/rsyncd.conf'): Promise<string> =>
  readOr(conf_path) ?? '';
