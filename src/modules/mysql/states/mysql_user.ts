/** Manages accounts of MySQL and MariaDB. */
import { messageOf } from '../../../protocol/error.ts';
import { salt } from '../../_shared/states/call.ts';
import { changed, failed, unchanged, would } from '../../_shared/states/returns.ts';
import { __opts__, type StateReturn } from '../../api.ts';
import { type MysqlOptions, withNewPassword } from '../mysql-run.ts';
import { mysqlVirtual } from '../mysql-state.ts';

/** Accounts of a MySQL or MariaDB server. */
export const __virtual__ = mysqlVirtual;

/**
 * Makes sure that an account exists and has this password or login method.
 *
 * @param name the account
 * @param host the host it connects from
 * @param password its password
 * @param password_hash the hash of its password, as the server stores it
 * @param allow_passwordless true: it may do without a password
 * @param unix_socket true, with `allow_passwordless`: it is known by the account of the process
 * @param password_column the column of mysql.user to compare with
 * @param auth_plugin how it is checked; only passwords of `mysql_native_password` can be compared
 * @unknown ignored
 * @example
 * shop:
 *   mysql_user.present:
 *     - host: localhost
 *     - password: secret
 */
export const present = async (
  name: string,
  {
    host = 'localhost',
    password = null,
    password_hash = null,
    allow_passwordless = false,
    unix_socket = false,
    password_column = null,
    auth_plugin = 'mysql_native_password',
    ...where
  }: {
    host?: string;
    password?: string | null;
    password_hash?: string | null;
    allow_passwordless?: boolean;
    unix_socket?: boolean;
    password_column?: string | null;
    auth_plugin?: string;
  } & MysqlOptions = {},
): Promise<StateReturn> => {
  const account = `${name}@${host}`;
  const passwordless = !password && !password_hash;
  if (passwordless && !allow_passwordless && !unix_socket)
    return failed(
      name,
      'Either password or password_hash must be specified, unless allow_passwordless is True',
    );
  const login = { password, password_hash, unix_socket, password_column };
  const how =
    (allow_passwordless ? ' with passwordless login' : '') +
    (unix_socket && passwordless ? ' using unix_socket' : '');
  const deed = passwordless ? 'cleared' : 'changed';
  let doing = '';
  try {
    return await withNewPassword(name, password, where, async given => {
      doing = '';
      if (await salt('mysql.user_exists')(name, host, { ...login, passwordless, ...given }))
        return unchanged(
          name,
          `User ${account} is already present${alreadyHow({ passwordless, allow_passwordless, password, auth_plugin })}`,
        );
      const there = await salt('mysql.user_exists')(name, host, given);
      if (__opts__.test)
        return there
          ? would(name, `Password for user ${account} is set to be ${deed}`, { [name]: 'Updated' })
          : would(name, `User ${account} is set to be added${how}`, { [name]: 'Present' });
      const options = {
        ...login,
        allow_passwordless: allow_passwordless || unix_socket,
        auth_plugin,
        ...given,
      };
      doing = there
        ? `Failed to ${passwordless ? 'clear' : 'change'} password for user ${account}`
        : `Failed to create user ${account}`;
      await salt(there ? 'mysql.user_chpass' : 'mysql.user_create')(name, host, options);
      return there
        ? changed(name, `Password for user ${account} has been ${deed}`, { [name]: 'Updated' })
        : changed(name, `The user ${account} has been added${how}`, { [name]: 'Present' });
    });
  } catch (error) {
    const reason = messageOf(error);
    return failed(name, doing ? `${doing} (${reason})` : reason);
  }
};

const alreadyHow = ({
  passwordless,
  allow_passwordless,
  password,
  auth_plugin,
}: {
  passwordless: boolean;
  allow_passwordless: boolean;
  password: string | null;
  auth_plugin: string;
}): string => {
  if (passwordless) return allow_passwordless ? ' with passwordless login' : '';
  if (auth_plugin !== 'mysql_native_password') return '. Unable to verify password.';
  return ` with the desired password${password ? '' : ' hash'}`;
};

/**
 * Makes sure that an account does not exist.
 *
 * @param name the account
 * @param host the host it connects from
 * @unknown ignored
 * @example
 * shop:
 *   mysql_user.absent:
 *     - host: localhost
 */
export const absent = async (
  name: string,
  { host = 'localhost', ...where }: { host?: string } & MysqlOptions = {},
): Promise<StateReturn> => {
  const account = `${name}@${host}`;
  try {
    if (!(await salt('mysql.user_exists')(name, host, where)))
      return unchanged(name, `User ${account} is not present, so it cannot be removed`);
    if (__opts__.test)
      return would(name, `User ${account} is set to be removed`, { [name]: 'Absent' });
    await salt('mysql.user_remove')(name, host, where);
    return changed(name, `User ${account} has been removed`, { [name]: 'Absent' });
  } catch (error) {
    return failed(name, messageOf(error));
  }
};
