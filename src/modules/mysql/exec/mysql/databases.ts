import { CommandExecutionError } from '../../../api.ts';
import { type MysqlOptions, mysqlName, mysqlRows, mysqlText } from '../../mysql-run.ts';

/**
 * Returns the databases.
 *
 * @example tsalt-ssh db1 mysql.db_list
 */
export const db_list = async (options: MysqlOptions = {}): Promise<string[]> =>
  (await mysqlRows('SHOW DATABASES;', options)).map(row => Object.values(row)[0] ?? '');

/**
 * Returns the character set and collation of a database; empty if it does not exist.
 *
 * @param name the database
 * @example tsalt-ssh db1 mysql.db_get shop
 */
export const db_get = async (
  name: string,
  options: MysqlOptions = {},
): Promise<{ character_set: string; collate: string } | Record<string, never>> => {
  const [row] = await mysqlRows(
    `SELECT DEFAULT_CHARACTER_SET_NAME AS c, DEFAULT_COLLATION_NAME AS o FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = ${mysqlText(name)};`,
    options,
  );
  return row ? { character_set: row.c ?? '', collate: row.o ?? '' } : {};
};

/**
 * Whether a database is there.
 *
 * @param name the database
 * @example tsalt-ssh db1 mysql.db_exists shop
 */
export const db_exists = async (name: string, options: MysqlOptions = {}): Promise<boolean> =>
  'collate' in (await db_get(name, options));

/**
 * Returns the tables of a database; false if the database does not exist.
 *
 * @param name the database
 * @example tsalt-ssh db1 mysql.db_tables shop
 */
export const db_tables = async (
  name: string,
  options: MysqlOptions = {},
): Promise<string[] | false> =>
  (await db_exists(name, options)) &&
  (
    await mysqlRows(
      `SELECT TABLE_NAME AS n FROM information_schema.TABLES WHERE TABLE_SCHEMA = ${mysqlText(name)} ORDER BY 1;`,
      options,
    )
  ).map(({ n }) => n ?? '');

const charset = (character_set: string | null, collate: string | null): string =>
  (character_set ? ` CHARACTER SET ${mysqlText(character_set)}` : '') +
  (collate ? ` COLLATE ${mysqlText(collate)}` : '');

/**
 * Makes a database. False when it is there.
 *
 * @param name the database
 * @param character_set its character set
 * @param collate its order of texts
 * @example tsalt-ssh db1 mysql.db_create shop character_set=utf8mb4
 */
export const db_create = async (
  name: string,
  {
    character_set = null,
    collate = null,
    ...where
  }: { character_set?: string | null; collate?: string | null } & MysqlOptions = {},
): Promise<boolean> => {
  if (await db_exists(name, where)) return false;
  await mysqlRows(`CREATE DATABASE ${mysqlName(name)}${charset(character_set, collate)};`, where);
  return true;
};

/**
 * Changes the character set or collation of a database.
 *
 * @param name the database
 * @param character_set its character set
 * @param collate its order of texts
 * @example tsalt-ssh db1 mysql.alter_db shop collate=utf8mb4_bin
 */
export const alter_db = async (
  name: string,
  {
    character_set = null,
    collate = null,
    ...where
  }: { character_set?: string | null; collate?: string | null } & MysqlOptions = {},
): Promise<true> => {
  const words = charset(character_set, collate);
  if (words !== '') await mysqlRows(`ALTER DATABASE ${mysqlName(name)}${words};`, where);
  return true;
};

/**
 * Removes a database. False when it is not there.
 *
 * @param name the database
 * @example tsalt-ssh db1 mysql.db_remove shop
 */
export const db_remove = async (name: string, options: MysqlOptions = {}): Promise<boolean> => {
  if (['mysql', 'information_schema', 'performance_schema', 'sys'].includes(name))
    throw new CommandExecutionError(`The database ${name} belongs to the server: it stays.`);
  if (!(await db_exists(name, options))) return false;
  await mysqlRows(`DROP DATABASE ${mysqlName(name)};`, options);
  return true;
};
