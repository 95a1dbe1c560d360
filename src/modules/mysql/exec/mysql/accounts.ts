import { CommandExecutionError, SaltInvocationError } from '../../../api.ts';
import {
  type MysqlOptions,
  type MysqlRow,
  mysqlAccount,
  mysqlRows,
  mysqlText,
  nativeHash,
  withNewPassword,
} from '../../mysql-run.ts';

type PasswordOptions = {
  /** its password */
  password?: string | null;
  /** the hash of its password, as the server stores it */
  password_hash?: string | null;
  /** true: it is known by the account of the process */
  unix_socket?: boolean | null;
  password_column?: string | null;
  /** how it is checked */
  auth_plugin?: string | null;
};

/**
 * Returns the accounts, as `[{User, Host}]`.
 *
 * @example tsalt-ssh db1 mysql.user_list
 */
export const user_list = async (options: MysqlOptions = {}): Promise<MysqlRow[]> =>
  mysqlRows('SELECT User, Host FROM mysql.user;', options);

/**
 * Returns an account's row of mysql.user; null if the account does not exist.
 *
 * @param user the account
 * @param host the host it connects from
 * @example tsalt-ssh db1 mysql.user_info shop localhost
 */
export const user_info = async (
  user: string,
  host = 'localhost',
  options: MysqlOptions = {},
): Promise<AccountRow | null> => {
  // The server stores host names in lower case.
  const [row] = await mysqlRows(
    `SELECT * FROM mysql.user WHERE User = ${mysqlText(user)} AND LOWER(Host) = LOWER(${mysqlText(host)});`,
    options,
  );
  if (!row) return null;
  const limits = Object.keys(row).filter(
    name => name.startsWith('max_') && /^\d+$/.test(row[name] ?? ''),
  );
  return { ...row, ...Object.fromEntries(limits.map(name => [name, Number(row[name])])) };
};

type AccountRow = { [column: string]: string | number | null };

/**
 * Returns true if an account exists and has this password or login method.
 *
 * @param user the account
 * @param host the host it connects from
 * @param passwordless true: it needs no password
 * @param unix_socket true, with `passwordless`: it is known by the account of the process
 * @param password_column the column of mysql.user to compare with
 * @example tsalt-ssh db1 mysql.user_exists shop localhost password=secret
 */
export const user_exists = async (
  user: string,
  host = 'localhost',
  {
    password = null,
    password_hash = null,
    passwordless = false,
    unix_socket = false,
    password_column = null,
    auth_plugin: _,
    ...where
  }: PasswordOptions & { passwordless?: boolean } & MysqlOptions = {},
): Promise<boolean> => {
  const row = await withNewPassword(user, password, where, given => user_info(user, host, given));
  if (!row) return false;
  if (password_column && !(password_column in row))
    throw new CommandExecutionError(
      `MySQL Error 1054: Unknown column '${password_column}' in mysql.user`,
    );
  const text = (column: string): string => String(row[column] ?? '');
  const plugin = text('plugin');
  const kept = password_column
    ? text(password_column)
    : text('authentication_string') || text('Password');
  if (passwordless) return unix_socket ? isSocket(plugin) : kept === '';
  if (!password && !password_hash) return true;
  if (!['', 'mysql_native_password'].includes(plugin))
    return !isSocket(plugin) && !kept.startsWith('*');
  return kept === (password ? nativeHash(String(password)) : password_hash);
};

/** Hashes of other plugins can be checked only by the server; a login by socket has no password. */
const isSocket = (plugin: string): boolean => ['unix_socket', 'auth_socket'].includes(plugin);

const identified = async (
  { password, password_hash, unix_socket, auth_plugin }: PasswordOptions,
  allow_passwordless: boolean,
  where: MysqlOptions,
): Promise<string> => {
  const [row] = await mysqlRows('SELECT VERSION() AS v;', where);
  const maria = /mariadb/i.test(row?.v ?? '');
  const plugin = auth_plugin ?? 'mysql_native_password';
  if (!/^\w+$/.test(plugin)) throw new SaltInvocationError(`Not the name of a plugin: ${plugin}`);
  const native = plugin === 'mysql_native_password';
  if (password)
    return maria && native
      ? `IDENTIFIED BY ${mysqlText(String(password))}`
      : `IDENTIFIED ${maria ? 'VIA' : 'WITH'} ${plugin} ${maria ? `USING PASSWORD(${mysqlText(String(password))})` : `BY ${mysqlText(String(password))}`}`;
  if (password_hash)
    return maria
      ? `IDENTIFIED VIA ${plugin} USING ${mysqlText(password_hash)}`
      : `IDENTIFIED WITH ${plugin} AS ${mysqlText(password_hash)}`;
  if (!allow_passwordless && !unix_socket)
    throw new SaltInvocationError(
      'Either password or password_hash must be specified, unless allow_passwordless is True',
    );
  if (unix_socket) return maria ? 'IDENTIFIED VIA unix_socket' : 'IDENTIFIED WITH auth_socket';
  return maria ? `IDENTIFIED BY ''` : `IDENTIFIED WITH ${plugin} BY ''`;
};

/**
 * Creates an account. Returns false if it already exists.
 *
 * @param user the account
 * @param host the host it connects from
 * @param allow_passwordless true: it may do without
 * @param password_column not used to make one
 * @example tsalt-ssh db1 mysql.user_create shop localhost password=secret
 */
export const user_create = async (
  user: string,
  host = 'localhost',
  {
    password = null,
    password_hash = null,
    allow_passwordless = false,
    unix_socket = false,
    password_column: _ = null,
    auth_plugin = 'mysql_native_password',
    ...where
  }: PasswordOptions & { allow_passwordless?: boolean } & MysqlOptions = {},
): Promise<boolean> => {
  const options = { password, password_hash, unix_socket, auth_plugin };
  return withNewPassword(user, password, where, async given => {
    if (await user_exists(user, host, given)) return false;
    const how = await identified(options, allow_passwordless, given);
    await mysqlRows(`CREATE USER ${mysqlAccount(user, host)} ${how};`, given);
    return true;
  });
};

/**
 * Changes the password or login method of an account. Returns false if it does not exist.
 *
 * @param user the account
 * @param host the host it connects from
 * @param allow_passwordless true: it may do without
 * @param password_column not used
 * @example tsalt-ssh db1 mysql.user_chpass shop localhost password=newsecret
 */
export const user_chpass = async (
  user: string,
  host = 'localhost',
  {
    password = null,
    password_hash = null,
    allow_passwordless = false,
    unix_socket = false,
    password_column: _ = null,
    auth_plugin = 'mysql_native_password',
    ...where
  }: PasswordOptions & { allow_passwordless?: boolean } & MysqlOptions = {},
): Promise<boolean> => {
  const options = { password, password_hash, unix_socket, auth_plugin };
  return withNewPassword(user, password, where, async given => {
    if (!(await user_exists(user, host, given))) return false;
    const how = await identified(options, allow_passwordless, given);
    await mysqlRows(`ALTER USER ${mysqlAccount(user, host)} ${how};`, given);
    return true;
  });
};

/**
 * Removes an account. False when it is not there.
 *
 * @param user the account
 * @param host the host it connects from
 * @example tsalt-ssh db1 mysql.user_remove shop localhost
 */
export const user_remove = async (
  user: string,
  host = 'localhost',
  options: MysqlOptions = {},
): Promise<boolean> => {
  if (!(await user_exists(user, host, options))) return false;
  await mysqlRows(`DROP USER ${mysqlAccount(user, host)};`, options);
  return true;
};
