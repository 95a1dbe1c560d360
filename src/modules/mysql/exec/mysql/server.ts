/**
 * Manages MySQL and MariaDB servers with their client program.
 *
 * Every function accepts the connection options `connection_user`, `connection_pass`,
 * `connection_host`, `connection_port`, `connection_unix_socket`, `connection_default_file` …
 * Options that are not given are read from `mysql.user`, `mysql.pass` … in the configuration or the
 * pillar.
 */

import { readFileSync } from '../../../_shared/safe-fs/fs.ts';
import { __salt__, CommandExecutionError, type PlainDict } from '../../../api.ts';
import {
  type MysqlOptions,
  type MysqlResult,
  mysqlPath,
  mysqlRows,
  mysqlTable,
  withNumbers,
} from '../../mysql-run.ts';

export const __virtual__ = (): true | [false, string] =>
  mysqlPath() !== undefined || [false, 'Neither mariadb nor mysql is installed.'];

/**
 * Runs SQL in a database and returns the rows. As in Salt, `%%` in the SQL means `%`. If a query
 * finds no rows, the names of its columns are not reported.
 *
 * @param database the database
 * @param query the SQL
 * @example tsalt-ssh db1 mysql.query shop 'SELECT id, name FROM items'
 */
export const query = async (
  database: string,
  query: string,
  options: MysqlOptions = {},
): Promise<MysqlResult> => {
  const started = performance.now();
  const sql = query.replaceAll('%%', '%').trim().replace(/;$/, '');
  const table = await mysqlTable(
    `${sql};\nSELECT ROW_COUNT() AS \`#affected\`;\n`,
    options,
    database,
  );
  return answerOf(table, /^\s*(?:SELECT|SHOW|DESC)/i.test(query), performance.now() - started);
};

/**
 * The last result is the row count. A query without rows has no result before it, not even its
 * columns.
 */
const answerOf = (
  table: (string | null)[][],
  isQuestion: boolean,
  milliseconds: number,
): MysqlResult => {
  const time = {
    human: `${milliseconds.toFixed(1)}ms`,
    raw: (milliseconds / 1000).toFixed(5),
  };
  const [head, ...results] = table.slice(0, -2);
  if (head)
    return {
      'query time': time,
      'rows returned': results.length,
      columns: head.map(name => name ?? 'NULL'),
      results,
    };
  const affected = Math.max(Number(table.at(-1)?.[0]), 0);
  return isQuestion
    ? { 'query time': time, 'rows returned': 0, columns: [], results: [] }
    : { 'query time': time, 'rows affected': affected };
};

/**
 * Runs a file of SQL in a database.
 *
 * @param database the database
 * @param file_name the file, also `salt://`
 * @example tsalt-ssh db1 mysql.file_query shop /srv/schema.sql
 */
export const file_query = async (
  database: string,
  file_name: string,
  options: MysqlOptions = {},
): Promise<MysqlResult> => {
  const path = /^(?:salt|https?):\/\//.test(file_name)
    ? ((await __salt__['cp.cache_file'](file_name)) as string | false)
    : file_name;
  if (!path) throw new CommandExecutionError(`File "${file_name}" does not exist`);
  return query(database, readFileSync(path, 'utf8'), options);
};

/**
 * Returns the server's version.
 *
 * @example tsalt-ssh db1 mysql.version
 */
export const version = async (options: MysqlOptions = {}): Promise<string> =>
  (await mysqlRows('SELECT VERSION() AS v;', options))[0]?.v ?? '';

const variables = async (sql: string, options: MysqlOptions): Promise<PlainDict> =>
  Object.fromEntries(
    (await mysqlRows(sql, options)).map(({ Variable_name, Value }) => [
      Variable_name ?? '',
      Value ?? null,
    ]),
  );

/**
 * Returns the server's counters.
 *
 * @example tsalt-ssh db1 mysql.status
 */
export const status = async (options: MysqlOptions = {}): Promise<PlainDict> =>
  variables('SHOW GLOBAL STATUS;', options);

/**
 * Returns the server's variables.
 *
 * @example tsalt-ssh db1 mysql.showglobal
 */
export const showglobal = async (options: MysqlOptions = {}): Promise<PlainDict> =>
  variables('SHOW GLOBAL VARIABLES;', options);

/**
 * Returns the connection's variables.
 *
 * @example tsalt-ssh db1 mysql.showvariables
 */
export const showvariables = async (options: MysqlOptions = {}): Promise<PlainDict> =>
  variables('SHOW VARIABLES;', options);

/**
 * Returns the threads of the server, as in `SHOW FULL PROCESSLIST`.
 *
 * @example tsalt-ssh db1 mysql.processlist
 */
export const processlist = async (options: MysqlOptions = {}): Promise<PlainDict[]> =>
  (await mysqlRows('SHOW FULL PROCESSLIST;', options)).map(row =>
    withNumbers(row, ['Id', 'Time', 'Progress']),
  );

/**
 * Whether somebody can log in.
 *
 * @param user the account
 * @param password its password
 * @example tsalt-ssh db1 mysql.verify_login shop secret
 */
export const verify_login = async (
  user: string,
  password: string | null = null,
  options: MysqlOptions = {},
): Promise<boolean> => {
  try {
    await version({ ...options, connection_user: user, connection_pass: password ?? '' });
    return true;
  } catch {
    return false;
  }
};
