/** Manages the privileges of MySQL and MariaDB accounts. */
import { messageOf } from '../../../protocol/error.ts';
import { salt } from '../../_shared/states/call.ts';
import { changed, failed, unchanged, would } from '../../_shared/states/returns.ts';
import { __opts__, type Plain, type StateReturn } from '../../api.ts';
import { parseGrant, splitRights, splitTarget } from '../mysql-grant.ts';
import type { MysqlOptions } from '../mysql-run.ts';
import { mysqlVirtual } from '../mysql-state.ts';

/** Manages the rights of accounts of a MySQL or MariaDB server. */
export const __virtual__ = mysqlVirtual;

type Options = {
  grant?: string | null;
  database?: string | null;
  user?: string | null;
  host?: string;
  grant_option?: boolean;
  escape?: boolean;
} & MysqlOptions;

/**
 * Makes sure that an account has rights.
 *
 * @param name a name for this
 * @param grant the rights, as `select,insert` or `all privileges`
 * @param database the database or table that the rights apply to, as `shop.*` or `shop.items`
 * @param user the account
 * @param host the host it connects from
 * @param grant_option true: it may grant them
 * @param escape `_` in the database's name is literal; `%` matches any text, `\%` a literal `%`
 * @param revoke_first true: first revoke the account's other rights on that database
 * @param ssl_option requirements on its connections: a list of `SSL: true`, `X509: true`, `SUBJECT`, `ISSUER`, `CIPHER`
 * @unknown ignored
 * @example
 * shop may read:
 *   mysql_grants.present:
 *     - grant: select,insert
 *     - database: shop.*
 *     - user: shop
 *     - host: localhost
 */
export const present = async (
  name: string,
  {
    grant = null,
    database = null,
    user = null,
    host = 'localhost',
    grant_option = false,
    escape: escaped = true,
    revoke_first = false,
    ssl_option = false,
    ...where
  }: Options & { revoke_first?: boolean; ssl_option?: Plain } = {},
): Promise<StateReturn> => {
  if (!grant || !database || !user)
    return failed(name, 'mysql_grants.present needs grant, database and user.');
  const words = `${grant} on ${database} to ${user}@${host}`;
  const options = { grant_option, escape: escaped, ...where };
  const command = `Failed to execute: "GRANT ${grant} ON ${database} TO ${user}@${host}"`;
  let doing = '';
  try {
    const isThere: boolean = await salt('mysql.grant_exists')(grant, database, user, host, options);
    if (isThere && !(revoke_first && (await hasAll(grant, database, user, host, options))))
      return unchanged(name, `Grant ${words} is already present`);
    const changes = { [name]: 'Present' };
    if (__opts__.test) return would(name, `MySQL grant ${name} is set to be created`, changes);
    doing = command;
    if (revoke_first) await revokeAll(database, user, host, options);
    const done = await salt('mysql.grant_add')(grant, database, user, host, {
      ...options,
      ssl_option,
    });
    return done ? changed(name, `Grant ${words} has been added`, changes) : failed(name, command);
  } catch (error) {
    const reason = messageOf(error);
    return failed(name, doing ? `${doing} (${reason})` : reason);
  }
};

/** Whether it has all rights where some are wanted: what is revoked first is more than what is granted. */
const hasAll = async (
  grant: string,
  database: string,
  user: string,
  host: string,
  options: { grant_option: boolean; escape: boolean } & MysqlOptions,
): Promise<boolean> =>
  splitTarget(database).db !== '*' &&
  !splitRights(grant).includes('ALL PRIVILEGES') &&
  salt('mysql.grant_exists')('ALL PRIVILEGES', database, user, host, options);

const revokeAll = async (
  database: string,
  user: string,
  host: string,
  options: { grant_option: boolean; escape: boolean } & MysqlOptions,
): Promise<void> => {
  const { grant_option: _, escape: __, ...where } = options;
  const lines = ((await salt('mysql.user_grants')(user, host, where)) || []) as string[];
  const { db } = splitTarget(database);
  for (const found of lines.map(parseGrant))
    if (found && found.database === database && db !== '*' && !found.grant.includes('USAGE'))
      await salt('mysql.grant_revoke')(found.grant.join(', '), database, user, host, {
        ...options,
        grant_option: found.grantOption,
      }).catch((error: unknown) => {
        // It is on all databases whose names fit: not on this one by its own name.
        if (!/MySQL Error 114[17]/.test(messageOf(error))) throw error;
      });
};

/**
 * Makes sure that an account does not have rights.
 *
 * @param name a name for this
 * @param grant the rights
 * @param database the database or table that the rights apply to
 * @param user the account
 * @param host the host it connects from
 * @param grant_option true: it may no longer grant either
 * @param escape `_` in the database's name is literal; `%` matches any text, `\%` a literal `%`
 * @unknown ignored
 * @example
 * shop may not delete:
 *   mysql_grants.absent:
 *     - grant: delete
 *     - database: shop.*
 *     - user: shop
 */
export const absent = async (
  name: string,
  {
    grant = null,
    database = null,
    user = null,
    host = 'localhost',
    grant_option = false,
    escape: escaped = true,
    ...where
  }: Options = {},
): Promise<StateReturn> => {
  if (!grant || !database || !user)
    return failed(name, 'mysql_grants.absent needs grant, database and user.');
  const words = `${grant} on ${database} for ${user}@${host}`;
  const options = { grant_option, escape: escaped, ...where };
  let isFound = false;
  try {
    // USAGE means that an account has no rights, so it cannot be revoked.
    const isUsage = splitRights(grant).every(right => right === 'USAGE');
    if (isUsage || !(await salt('mysql.grant_exists')(grant, database, user, host, options)))
      return unchanged(
        name,
        `Grant ${grant} on ${database} to ${user}@${host} is not present, so it cannot be revoked`,
      );
    isFound = true;
    const changes = { [name]: 'Absent' };
    if (__opts__.test) return would(name, `MySQL grant ${name} is set to be revoked`, changes);
    await salt('mysql.grant_revoke')(grant, database, user, host, options);
    return changed(name, `Grant ${words} has been revoked`, changes);
  } catch (error) {
    return failed(
      name,
      isFound
        ? `Unable to revoke grant ${words} (${messageOf(error)})`
        : `Unable to determine if grant ${words} exists (${messageOf(error)})`,
    );
  }
};
