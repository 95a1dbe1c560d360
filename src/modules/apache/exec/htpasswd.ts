/**
 * Manages users in htpasswd files. Also available as `webutil`.
 *
 * @depends htpasswd (Debian: apache2-utils)
 */

import { runCommand } from '../../_shared/commands/run-command.ts';
import { which } from '../../_shared/commands/which.ts';
import { exists } from '../../_shared/files/file-paths.ts';
import { SaltInvocationError } from '../../api.ts';

export const __virtualname__ = 'webutil';

export const __virtual__ = (): string | [false, string] =>
  which('htpasswd') !== undefined ? __virtualname__ : [false, 'htpasswd is not installed.'];

type Result = { pid: number; retcode: number; stdout: string; stderr: string };

const run = async (
  words: readonly string[],
  runas: string | null,
  stdin?: string,
): Promise<Result> => {
  const { pid, code, stdout, stderr } = await runCommand(['htpasswd', ...words], {
    plainLocale: true,
    cwd: '/',
    ...(runas ? { runas } : {}),
    ...(stdin === undefined ? {} : { stdin: `${stdin}\n` }),
  });
  return { pid, retcode: code, stdout: stdout.trim(), stderr: stderr.trim() };
};

/** Returns the option letters; the password is passed on stdin (`i`), not on the command line (`b`). */
const letters = (opts: string, ...more: string[]): string => {
  if (!/^[a-zA-Z0-9]*$/.test(opts))
    throw new SaltInvocationError(`Options of htpasswd are letters: '${opts}' is something else.`);
  return `-${[...new Set([...opts.replace('b', ''), 'i', ...more])].join('')}`;
};

const oneLine = (what: string, text: string): string => {
  if (/[\r\n]/.test(text) || text === '')
    throw new SaltInvocationError(`A ${what} for htpasswd is one line that is not empty.`);
  return text;
};

/**
 * Adds a user to an htpasswd file, or changes the user's password. Creates the file if it is
 * missing.
 *
 * @param pwfile the file
 * @param user the user
 * @param password the password; it is not passed on a command line
 * @param opts letters of htpasswd: `m` MD5 (its default), `B` bcrypt, `2` and `5` SHA-2, `s` SHA-1, `d` crypt, `p` as it is
 * @param runas the account to run htpasswd as
 * @example tsalt-ssh '*' webutil.useradd /etc/nginx/htpasswd ann password opts=B
 */
export const useradd = async (
  pwfile: string,
  user: string,
  password: string,
  { opts = '', runas = null }: { opts?: string; runas?: string | null } = {},
): Promise<Result> =>
  run(
    [letters(opts, ...(exists(pwfile) ? [] : ['c'])), '--', pwfile, oneLine('user', user)],
    runas,
    oneLine('password', password),
  );

/**
 * Removes a user from an htpasswd file.
 *
 * @param pwfile the file
 * @param user the user
 * @param runas the account to run htpasswd as
 * @param all_results true: `retcode`, `stdout` and `stderr`, not only lines of stdout
 * @example tsalt-ssh '*' webutil.userdel /etc/nginx/htpasswd ann
 */
export const userdel = async (
  pwfile: string,
  user: string,
  { runas = null, all_results = false }: { runas?: string | null; all_results?: boolean } = {},
): Promise<Result | string[] | string> => {
  if (!exists(pwfile)) return 'Error: The specified htpasswd file does not exist';
  const result = await run(['-D', '--', pwfile, oneLine('user', user)], runas);
  return all_results ? result : result.stdout.split('\n').filter(line => line !== '');
};

/**
 * Returns true if an htpasswd file contains the user with this password.
 *
 * @param pwfile the file
 * @param user the user
 * @param password the password; it is not passed on a command line
 * @param opts letters of htpasswd
 * @param runas the account to run htpasswd as
 * @example tsalt-ssh '*' webutil.verify /etc/nginx/htpasswd ann password
 */
export const verify = async (
  pwfile: string,
  user: string,
  password: string,
  { opts = '', runas = null }: { opts?: string; runas?: string | null } = {},
): Promise<boolean> => {
  if (!exists(pwfile)) return false;
  const words = [letters(opts, 'v'), '--', pwfile, oneLine('user', user)];
  return (await run(words, runas, oneLine('password', password))).retcode === 0;
};
