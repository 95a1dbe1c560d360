import { repackDictList } from '../../../_shared/states/values.ts';
import { plainStr } from '../../../_shared/text/python-text.ts';
import { type Plain, SaltInvocationError } from '../../../api.ts';
import { covers, grantTarget, parseGrant, rightsText, splitRights } from '../../mysql-grant.ts';
import { type MysqlOptions, mysqlAccount, mysqlRows, mysqlText } from '../../mysql-run.ts';
import { user_exists } from './accounts.ts';

/**
 * Returns the rights of an account, in the format of `SHOW GRANTS`; false if the account does not
 * exist.
 *
 * @param user the account
 * @param host the host it connects from
 * @example tsalt-ssh db1 mysql.user_grants shop localhost
 */
export const user_grants = async (
  user: string,
  host = 'localhost',
  options: MysqlOptions = {},
): Promise<string[] | false> => {
  try {
    const rows = await mysqlRows(`SHOW GRANTS FOR ${mysqlAccount(user, host)};`, options);
    return rows.map(row =>
      (Object.values(row)[0] ?? '').replace(/ IDENTIFIED (?:BY|VIA).*?(?= WITH | REQUIRE |$)/, ''),
    );
  } catch (error) {
    const isNobody = /Error (?:1141|1269)/.test(String(error));
    // A role is listed without a host, and is not shown by that.
    if (isNobody && !(await user_exists(user, host, options))) return false;
    throw error;
  }
};

/**
 * Returns true if an account has rights.
 *
 * @param grant the rights, as `SELECT,INSERT` or `ALL PRIVILEGES`
 * @param database the database or table that the rights apply to, as `shop.*` or `shop.items`
 * @param user the account
 * @param host the host it connects from
 * @param grant_option whether the account may also grant them
 * @param escape `_` in the database's name is literal; `%` matches any text, `\%` a literal `%`
 * @example tsalt-ssh db1 mysql.grant_exists SELECT,INSERT 'shop.*' shop localhost
 */
export const grant_exists = async (
  grant: string,
  database: string,
  user: string,
  host = 'localhost',
  {
    grant_option = false,
    escape: escaped = true,
    ...where
  }: { grant_option?: boolean; escape?: boolean } & MysqlOptions = {},
): Promise<boolean> => {
  const target = grantTarget(database, escaped);
  const lines = await user_grants(user, host, where);
  if (!lines) return false;
  return covers(
    lines.map(parseGrant).filter(found => found !== undefined),
    { grant: splitRights(grant), database: target, grantOption: grant_option },
  );
};

/**
 * Grants rights to an account.
 *
 * @param grant the rights, as `SELECT,INSERT` or `ALL PRIVILEGES`
 * @param database the database or table that the rights apply to, as `shop.*` or `shop.items`
 * @param user the account
 * @param host the host it connects from
 * @param grant_option it may grant them
 * @param escape `_` in the database's name is literal; `%` matches any text, `\%` a literal `%`
 * @param ssl_option requirements on its connections: a list of `SSL: true`, `X509: true`, `SUBJECT`, `ISSUER`, `CIPHER`
 * @example tsalt-ssh db1 mysql.grant_add SELECT,INSERT 'shop.*' shop localhost
 */
export const grant_add = async (
  grant: string,
  database: string,
  user: string,
  host = 'localhost',
  {
    grant_option = false,
    escape: escaped = true,
    ssl_option = false,
    ...where
  }: { grant_option?: boolean; escape?: boolean; ssl_option?: Plain } & MysqlOptions = {},
): Promise<boolean> => {
  const to = mysqlAccount(user, host);
  const end = grant_option ? ' WITH GRANT OPTION' : '';
  const words = ssl_option ? sslWords(ssl_option) : '';
  const needs = words === '' ? '' : `ALTER USER ${to} REQUIRE ${words};\n`;
  await mysqlRows(
    `GRANT ${rightsText(grant)} ON ${grantTarget(database, escaped)} TO ${to}${end};\n${needs}`,
    where,
  );
  return grant_exists(grant, database, user, host, { grant_option, escape: escaped, ...where });
};

const sslWords = (options: Plain): string => {
  if (typeof options !== 'object')
    throw new SaltInvocationError(
      `ssl_option is a list such as [{SSL: true}], not ${plainStr(options)}`,
    );
  return Object.entries(repackDictList(options))
    .filter(([, value]) => value !== false)
    .map(([key, value]) => {
      const word = key.toUpperCase();
      if (word === 'SSL' || word === 'X509') return word;
      if (['SUBJECT', 'ISSUER', 'CIPHER'].includes(word))
        return `${word} ${mysqlText(String(value))}`;
      throw new SaltInvocationError(`Not an ssl_option: ${key}`);
    })
    .join(' AND ');
};

/**
 * Revokes rights.
 *
 * @param grant the rights
 * @param database the database or table that the rights apply to
 * @param user the account
 * @param host the host it connects from
 * @param grant_option it may no longer grant either
 * @param escape `_` in the database's name is literal; `%` matches any text, `\%` a literal `%`
 * @example tsalt-ssh db1 mysql.grant_revoke INSERT 'shop.*' shop localhost
 */
export const grant_revoke = async (
  grant: string,
  database: string,
  user: string,
  host = 'localhost',
  {
    grant_option = false,
    escape: escaped = true,
    ...where
  }: { grant_option?: boolean; escape?: boolean } & MysqlOptions = {},
): Promise<true> => {
  const on = `ON ${grantTarget(database, escaped)} FROM ${mysqlAccount(user, host)}`;
  const option = grant_option ? `REVOKE GRANT OPTION ${on};\n` : '';
  await mysqlRows(`REVOKE ${rightsText(grant)} ${on};\n${option}`, where);
  return true;
};

/**
 * Returns the parts of a line of `SHOW GRANTS`: `user`, `host`, `grant` (a list) and `database`.
 *
 * @param grant the line
 * @example tsalt-ssh db1 mysql.tokenize_grant "GRANT SELECT, INSERT ON shop.* TO 'shop'@'localhost'"
 */
export const tokenize_grant = async (
  grant: string,
): Promise<{ user: string; host: string; grant: readonly string[]; database: string }> => {
  const found = parseGrant(grant);
  if (!found) throw new SaltInvocationError(`This is not a grant on a database: ${grant}`);
  const { user, host, grant: words, database } = found;
  return { user, host, grant: words, database };
};
