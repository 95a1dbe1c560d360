/**
 * Passwords and their ages.
 *
 * @platform linux
 * @depends chage, usermod
 */

import { inRoot, rootFlags } from '../../_shared/commands/other-root.ts';
import { runCommand } from '../../_shared/commands/run-command.ts';
import { readFile } from '../../_shared/safe-fs/promises.ts';
import { __grains__, CommandExecutionError, SaltInvocationError } from '../../api.ts';
import { shaCrypt } from '../sha-crypt.ts';
import { readShadow, type Shadow } from '../shadow-file.ts';

export const __virtual__ = (): true | [false, string] =>
  __grains__.kernel === 'Linux' || [false, 'The shadow module works on Linux only.'];

/** Salt's result for an account without an entry. */
const none = {
  name: '',
  passwd: '',
  lstchg: '',
  min: '',
  max: '',
  warn: '',
  inact: '',
  expire: '',
};

/**
 * The hash of an account that has no password yet.
 *
 * @example tsalt-ssh '*' shadow.default_hash
 */
export const default_hash = async (): Promise<string> => '!';

/**
 * An account's entry in /etc/shadow.
 *
 * @param name the account
 * @param root the folder of another system to work on
 * @example tsalt-ssh '*' shadow.info root
 */
export const info = async (
  name: string,
  root: string | null = null,
): Promise<Shadow | typeof none> => (await entry(name, root)) ?? none;

const entry = (name: string, root: string | null): Promise<Shadow | undefined> =>
  readShadow(name, inRoot('/etc/shadow', root));

/**
 * The hash of a password, to be given to `shadow.set_password` or `user.present`.
 *
 * @param password the password
 * @param crypt_salt the salt; a fresh one by default
 * @param algorithm `sha512` or `sha256`
 * @example tsalt-ssh 'web1' shadow.gen_password 'I_am_password'
 */
export const gen_password = async (
  password: string,
  {
    crypt_salt = null,
    algorithm = 'sha512',
  }: { crypt_salt?: string | null; algorithm?: string } = {},
): Promise<string> => {
  if (algorithm !== 'sha512' && algorithm !== 'sha256')
    throw new SaltInvocationError(
      `The algorithm "${algorithm}" is not supported; sha512 and sha256 are.`,
    );
  return crypt_salt === null
    ? shaCrypt(password, undefined, algorithm)
    : shaCrypt(password, crypt_salt, algorithm);
};

/**
 * Sets an account's password to a hash. The hash goes to chpasswd's standard input, so no list
 * of processes shows it.
 *
 * @param name the account
 * @param password the hash, as in /etc/shadow
 * @param use_usermod refused: the arguments of usermod can be seen
 * @param root the folder of another system to work on
 * @example tsalt-ssh 'web1' shadow.set_password deploy '$6$…'
 */
export const set_password = async (
  name: string,
  password: string,
  { use_usermod = false, root = null }: { use_usermod?: boolean; root?: string | null } = {},
): Promise<boolean> => {
  if (use_usermod)
    throw new SaltInvocationError(
      'The argument "use_usermod" of shadow.set_password is not supported: the arguments of usermod can be seen.',
    );
  if (!(await entry(name, root))) return false;
  if (/[:\n]/.test(password))
    throw new SaltInvocationError('A password hash holds neither colons nor line ends.');
  const result = await runCommand(['chpasswd', '-e', ...rootFlags(root)], {
    stdin: `${name}:${password}\n`,
    plainLocale: true,
    cwd: '/',
  });
  if (result.code !== 0)
    throw new CommandExecutionError(`chpasswd failed for ${name}: ${result.stderr.trim()}`);
  return (await entry(name, root))?.passwd === password;
};

/**
 * Empties an account's password: it can log in without one, where the system lets it.
 *
 * @param name the account
 * @param root the folder of another system to work on
 * @example tsalt-ssh 'web1' shadow.del_password deploy
 */
export const del_password = async (name: string, root: string | null = null): Promise<boolean> => {
  await passwd('-d', name, root);
  return (await entry(name, root))?.passwd === '';
};

/**
 * Locks an account's password.
 *
 * @param name the account
 * @param root the folder of another system to work on
 * @example tsalt-ssh 'web1' shadow.lock_password deploy
 */
export const lock_password = async (name: string, root: string | null = null): Promise<boolean> => {
  const before = await entry(name, root);
  if (!before) return false;
  if (!before.passwd.startsWith('!')) await passwd('-l', name, root);
  return (await entry(name, root))?.passwd.startsWith('!') ?? false;
};

/**
 * Unlocks an account's password.
 *
 * @param name the account
 * @param root the folder of another system to work on
 * @example tsalt-ssh 'web1' shadow.unlock_password deploy
 */
export const unlock_password = async (
  name: string,
  root: string | null = null,
): Promise<boolean> => {
  const before = await entry(name, root);
  if (!before) return false;
  if (before.passwd.startsWith('!')) await passwd('-u', name, root);
  return !((await entry(name, root))?.passwd.startsWith('!') ?? true);
};

const passwd = (option: string, name: string, root: string | null) =>
  runCommand(['passwd', ...rootFlags(root), option, name], { plainLocale: true, cwd: '/' });

/**
 * Sets the day of the last password change.
 *
 * @param name the account
 * @param date days since 1970, or YYYY-MM-DD
 * @param root the folder of another system to work on
 * @example tsalt-ssh 'web1' shadow.set_date deploy 0
 */
export const set_date = async (
  name: string,
  date: number | string,
  root: string | null = null,
): Promise<boolean> => change(name, ['lstchg', '-d'], date, root);

/**
 * Sets the day on which an account expires.
 *
 * @param name the account
 * @param expire days since 1970, YYYY-MM-DD, or -1 for never
 * @param root the folder of another system to work on
 * @example tsalt-ssh 'web1' shadow.set_expire deploy 2030-01-01
 */
export const set_expire = async (
  name: string,
  expire: number | string,
  root: string | null = null,
): Promise<boolean> => change(name, ['expire', '-E'], expire, root);

/**
 * Sets the days after a password's expiry in which it can still be changed.
 *
 * @param name the account
 * @param inactdays number of days
 * @param root the folder of another system to work on
 * @example tsalt-ssh 'web1' shadow.set_inactdays deploy 7
 */
export const set_inactdays = async (
  name: string,
  inactdays: number,
  root: string | null = null,
): Promise<boolean> => change(name, ['inact', '-I'], inactdays, root);

/**
 * Sets the days that a password must be kept.
 *
 * @param name the account
 * @param mindays number of days
 * @param root the folder of another system to work on
 * @example tsalt-ssh 'web1' shadow.set_mindays deploy 7
 */
export const set_mindays = async (
  name: string,
  mindays: number,
  root: string | null = null,
): Promise<boolean> => change(name, ['min', '-m'], mindays, root);

/**
 * Sets the days for which a password is good.
 *
 * @param name the account
 * @param maxdays number of days
 * @param root the folder of another system to work on
 * @example tsalt-ssh 'web1' shadow.set_maxdays deploy 90
 */
export const set_maxdays = async (
  name: string,
  maxdays: number,
  root: string | null = null,
): Promise<boolean> => change(name, ['max', '-M'], maxdays, root);

/**
 * Sets the days before a password's expiry in which there is a warning.
 *
 * @param name the account
 * @param warndays number of days
 * @param root the folder of another system to work on
 * @example tsalt-ssh 'web1' shadow.set_warndays deploy 7
 */
export const set_warndays = async (
  name: string,
  warndays: number,
  root: string | null = null,
): Promise<boolean> => change(name, ['warn', '-W'], warndays, root);

/**
 * Accounts with an entry in /etc/shadow.
 *
 * @param root the folder of another system to work on
 * @example tsalt-ssh '*' shadow.list_users
 */
export const list_users = async (root: string | null = null): Promise<string[]> => {
  const text = await readFile(inRoot('/etc/shadow', root), 'utf8');
  return text
    .split('\n')
    .flatMap(line => line.split(':')[0] || [])
    .sort();
};

const change = async (
  name: string,
  [key, option]: [key: 'lstchg' | 'min' | 'max' | 'warn' | 'inact' | 'expire', option: string],
  value: number | string,
  root: string | null,
): Promise<boolean> => {
  const before = await entry(name, root);
  if (!before) return false;
  const wanted = toDays(value);
  if (before[key] === wanted) return true;
  const { code } = await runCommand(['chage', ...rootFlags(root), option, String(value), name], {
    plainLocale: true,
    cwd: '/',
  });
  return code === 0 && (await entry(name, root))?.[key] === wanted;
};

const toDays = (value: number | string): number =>
  typeof value === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(value)
    ? Math.floor(Date.parse(`${value}T00:00:00Z`) / 86_400_000)
    : Number(value);
