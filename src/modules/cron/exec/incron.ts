/**
 * Manages the tables of incron, which runs commands when files change. Salt's user `system` is the
 * file /etc/incron.d/salt.
 *
 * @platform Linux
 * @depends incrontab
 */
import { resolve } from 'node:path';
import { type CommandResult, runCommand } from '../../_shared/commands/run-command.ts';
import { which } from '../../_shared/commands/which.ts';
import { readOr } from '../../_shared/files/read-file.ts';
import { withSecretFile } from '../../_shared/files/secret-file.ts';
import { replaceFile } from '../../_shared/files/write-file.ts';
import { CommandExecutionError } from '../../api.ts';
import { type Incrontab, jobIn, maskNames, parseIncrontab, renderIncrontab } from '../incrontab.ts';

export const __virtual__ = (): true | [false, string] =>
  which('incrontab') !== undefined || [false, 'incrontab is not installed.'];

const systemFile = '/etc/incron.d/salt';

// Only root may name another user.
const incrontab = async (user: string, word: string): Promise<CommandResult> =>
  runCommand(['incrontab', ...(process.getuid?.() === 0 ? ['-u', user] : []), word], {
    plainLocale: true,
    cwd: '/',
  });

/**
 * Returns the text of the system's table.
 *
 * @example tsalt-ssh '*' incron.raw_system_incron
 */
export const raw_system_incron = async (): Promise<string> => readOr(systemFile) ?? '';

/**
 * Returns the text of a user's table.
 *
 * @param user the user
 * @example tsalt-ssh '*' incron.raw_incron root
 */
export const raw_incron = async (user: string): Promise<string> => {
  const { code, stdout, stderr } = await incrontab(user, '-l');
  const said = `${stderr}${stdout}`;
  if (/^no table for /m.test(said)) return '';
  if (code !== 0)
    throw new CommandExecutionError(`Cannot read the incrontab of ${user}: ${said.trim()}`);
  return stdout;
};

/**
 * Returns a user's table as data: jobs, and the other lines.
 *
 * @param user the user, or `system`
 * @example tsalt-ssh '*' incron.list_tab root
 */
export const list_tab = async (user: string): Promise<Incrontab> =>
  parseIncrontab(user === 'system' ? await raw_system_incron() : await raw_incron(user));

/** Alias of `incron.list_tab`. */
export const ls = list_tab;

const write = async (user: string, table: Incrontab): Promise<void> => {
  const text = renderIncrontab(table);
  if (user === 'system') {
    await replaceFile(systemFile, text);
    return;
  }
  // incrontab reopens its standard input by name, which does not work with a socket.
  const { code, stdout, stderr } = await withSecretFile(text, undefined, path =>
    incrontab(user, path),
  );
  if (code !== 0)
    throw new CommandExecutionError(
      `Cannot write the incrontab of ${user}: ${stderr.trim() || stdout.trim()}`,
    );
};

/**
 * Adds a job, or changes the mask of the job with the same path and command. Returns `new`,
 * `updated` or `present`.
 *
 * @param user the user, or `system`
 * @param path path to watch
 * @param mask events, separated by commas
 * @param cmd the command
 * @example tsalt-ssh '*' incron.set_job root /srv/in IN_CLOSE_WRITE '/usr/local/bin/take $@/$#'
 */
export const set_job = async (
  user: string,
  path: string,
  mask: string,
  cmd: string,
): Promise<'new' | 'updated' | 'present'> => {
  const table = await list_tab(user);
  const job = { path, mask: maskNames(mask).join(','), cmd };
  const { status, at } = jobIn(table, job);
  if (status === 'present') return 'present';
  if (at >= 0) table.crons[at] = job;
  else table.crons.push(job);
  await write(user, table);
  return at >= 0 ? 'updated' : 'new';
};

/**
 * Removes a job. Returns `removed` or `absent`.
 *
 * @param user the user, or `system`
 * @param path watched path
 * @param mask events, separated by commas
 * @param cmd the command
 * @example tsalt-ssh '*' incron.rm_job root /srv/in IN_CLOSE_WRITE '/usr/local/bin/take $@/$#'
 */
export const rm_job = async (
  user: string,
  path: string,
  mask: string,
  cmd: string,
): Promise<'removed' | 'absent'> => {
  const table = await list_tab(user);
  const { status, at } = jobIn(table, { path, mask, cmd });
  if (status !== 'present') return 'absent';
  table.crons.splice(at, 1);
  await write(user, table);
  return 'removed';
};

/** Alias of `incron.rm_job`. */
export const rm = rm_job;

/** Passes the path in absolute form, so that it cannot be an option: `-r` removes the table. */
const fromFile = (user: string, path: string): Promise<CommandResult> =>
  incrontab(user, resolve('/', path));

/**
 * Makes the content of a file a user's table. True where incrontab took it.
 *
 * @param user the user
 * @param path the file
 * @example tsalt-ssh '*' incron.write_incron_file root /tmp/new_incron
 */
export const write_incron_file = async (user: string, path: string): Promise<boolean> =>
  (await fromFile(user, path)).code === 0;

/**
 * Replaces a user's table with the contents of a file. Returns incrontab's `pid`, `retcode`,
 * `stdout` and `stderr`.
 *
 * @param user the user
 * @param path the file
 * @example tsalt-ssh '*' incron.write_incron_file_verbose root /tmp/new_incron
 */
export const write_incron_file_verbose = async (
  user: string,
  path: string,
): Promise<{ pid: number; retcode: number; stdout: string; stderr: string }> => {
  const { pid, code, stdout, stderr } = await fromFile(user, path);
  return { pid, retcode: code, stdout: stdout.trimEnd(), stderr: stderr.trimEnd() };
};
