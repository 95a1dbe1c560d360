import { CommandExecutionError, type PlainDict } from '../../../api.ts';
import {
  type MysqlOptions,
  type MysqlRow,
  mysqlName,
  mysqlRows,
  mysqlText,
  withNumbers,
} from '../../mysql-run.ts';
import { db_tables } from './databases.ts';

const onTables = async (
  verb: 'CHECK' | 'REPAIR' | 'OPTIMIZE',
  name: string,
  table: string | null,
  options: MysqlOptions,
): Promise<MysqlRow[] | MysqlRow[][]> => {
  const work = (one: string) =>
    mysqlRows(`${verb} TABLE ${mysqlName(name)}.${mysqlName(one)};`, options);
  if (table !== null) return work(table);
  const answers: MysqlRow[][] = [];
  for (const one of (await db_tables(name, options)) || []) answers.push(await work(one));
  return answers;
};

/**
 * Checks the tables of a database and returns the server's messages, one list per table.
 *
 * @param name the database
 * @param table only this one
 * @example tsalt-ssh db1 mysql.db_check shop items
 */
export const db_check = async (
  name: string,
  table: string | null = null,
  options: MysqlOptions = {},
): Promise<MysqlRow[] | MysqlRow[][]> => onTables('CHECK', name, table, options);

/**
 * Repairs the tables of a database and returns the server's messages, one list per table.
 *
 * @param name the database
 * @param table only this one
 * @example tsalt-ssh db1 mysql.db_repair shop items
 */
export const db_repair = async (
  name: string,
  table: string | null = null,
  options: MysqlOptions = {},
): Promise<MysqlRow[] | MysqlRow[][]> => onTables('REPAIR', name, table, options);

/**
 * Optimizes the tables of a database and returns the server's messages, one list per table.
 *
 * @param name the database
 * @param table only this one
 * @example tsalt-ssh db1 mysql.db_optimize shop items
 */
export const db_optimize = async (
  name: string,
  table: string | null = null,
  options: MysqlOptions = {},
): Promise<MysqlRow[] | MysqlRow[][]> => onTables('OPTIMIZE', name, table, options);

/**
 * Quotes a name for SQL, in backticks.
 *
 * @param identifier the name
 * @param for_grants true: as a database name for `GRANT`, where _ and % are wildcards
 * @example tsalt-ssh db1 mysql.quote_identifier 'my`table'
 */
export const quote_identifier = async (identifier: string, for_grants = false): Promise<string> =>
  mysqlName(for_grants ? identifier.replaceAll('_', '\\_') : identifier).replaceAll('%', '%%');

/**
 * Returns the current log position of a replication source; empty if it keeps no binary log.
 *
 * @example tsalt-ssh db1 mysql.get_master_status
 */
export const get_master_status = async (options: MysqlOptions = {}): Promise<PlainDict> =>
  withNumbers((await mysqlRows('SHOW MASTER STATUS;', options))[0] ?? {}, ['Position']);

/**
 * Returns the replication status of a replica; empty if the server is not a replica.
 *
 * @example tsalt-ssh db1 mysql.get_slave_status
 */
export const get_slave_status = async (options: MysqlOptions = {}): Promise<MysqlRow> =>
  (await mysqlRows('SHOW SLAVE STATUS;', options))[0] ?? {};

/**
 * Returns the seconds that a replica is behind its source: -1 if the server is not a replica, -2 if
 * replication is not running, -3 if the delay is unknown.
 *
 * @example tsalt-ssh db1 mysql.slave_lag
 */
export const slave_lag = async (options: MysqlOptions = {}): Promise<number> => {
  const status = await get_slave_status(options);
  if (Object.keys(status).length === 0) return -1;
  if (status.Slave_IO_Running !== 'Yes') return -2;
  return status.Seconds_Behind_Master === null || status.Seconds_Behind_Master === undefined
    ? -3
    : Number(status.Seconds_Behind_Master);
};

/**
 * Stops replication from another server and forgets that server. If this server keeps a binary log,
 * the log is reset. Returns `promoted`; fails if the server is not a replica.
 *
 * @example tsalt-ssh db2 mysql.free_slave
 */
export const free_slave = async (options: MysqlOptions = {}): Promise<string> => {
  if (Object.keys(await get_slave_status(options)).length === 0)
    throw new CommandExecutionError('This server follows no other: there is nothing to free.');
  const keepsLog = Object.keys(await get_master_status(options)).length > 0;
  await mysqlRows(`STOP SLAVE;\nRESET SLAVE ALL;\n${keepsLog ? 'RESET MASTER;' : ''}`, options);
  return Object.keys(await get_slave_status(options)).length === 0 ? 'promoted' : 'failed';
};

/**
 * Returns the plugins of the server: name and status of each.
 *
 * @example tsalt-ssh db1 mysql.plugins_list
 */
export const plugins_list = async (
  options: MysqlOptions = {},
): Promise<{ name: string; status: string }[]> =>
  (await mysqlRows('SHOW PLUGINS;', options)).map(({ Name, Status }) => ({
    name: Name ?? '',
    status: Status ?? '',
  }));

/**
 * Returns the status of a plugin: `ACTIVE`, `DISABLED` …; an empty string if the server has none of
 * that name.
 *
 * @param name the plugin
 * @example tsalt-ssh db1 mysql.plugin_status auth_socket
 */
export const plugin_status = async (name: string, options: MysqlOptions = {}): Promise<string> =>
  (await plugins_list(options)).find(one => one.name === name)?.status ?? '';

/**
 * Adds a plugin to the server, unless it has it.
 *
 * @param name the plugin
 * @param soname its library; by default, the plugin's name with `.so`
 * @example tsalt-ssh db1 mysql.plugin_add auth_socket
 */
export const plugin_add = async (
  name: string,
  soname: string | null = null,
  options: MysqlOptions = {},
): Promise<boolean> => {
  if (await plugin_status(name, options)) return true;
  const library = soname ?? `${name}.so`;
  if (library.includes('/'))
    throw new CommandExecutionError(`The library of a plugin has no folder: ${library}`);
  await mysqlRows(`INSTALL PLUGIN ${mysqlName(name)} SONAME ${mysqlText(library)};`, options);
  return true;
};

/**
 * Uninstalls a plugin of the server, if it is installed.
 *
 * @param name the plugin
 * @example tsalt-ssh db1 mysql.plugin_remove auth_socket
 */
export const plugin_remove = async (name: string, options: MysqlOptions = {}): Promise<boolean> => {
  if (!(await plugin_status(name, options))) return true;
  await mysqlRows(`UNINSTALL PLUGIN ${mysqlName(name)};`, options);
  return true;
};
