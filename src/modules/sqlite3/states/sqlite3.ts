/** Tables and rows of SQLite databases. */

import { dirname } from 'node:path';
import { messageOf } from '../../../protocol/error.ts';
import { existsSync } from '../../_shared/safe-fs/fs.ts';
import { hasFunction } from '../../_shared/states/call.ts';
import { failOnError } from '../../_shared/states/fail-on-error.ts';
import { changed, failed, unchanged, would } from '../../_shared/states/returns.ts';
import {
  __opts__,
  CommandExecutionError,
  type Plain,
  type PlainDict,
  type StateReturn,
} from '../../api.ts';
import { hasDatabase, sqliteFile, sqliteRun, sqliteRunAll } from '../sqlite-run.ts';
import { type SqliteValue, sqliteName } from '../sqlite-statement.ts';

export const __virtual__ = (): true | [false, string] =>
  hasFunction('sqlite3.fetch') || [false, 'The program sqlite3 is not installed.'];

type Row = { [column: string]: SqliteValue };

/**
 * A table is there, made by these words. The file of the database is made when it is not there.
 *
 * @param name the table
 * @param db the file
 * @param schema the statement that makes it, or a list of its columns
 * @param force true: a table that was made by other words is replaced, and its rows are gone
 * @example
 * users:
 *   sqlite3.table_present:
 *     - db: /var/www/data/app.sqlite
 *     - schema:
 *       - email TEXT UNIQUE NOT NULL
 *       - name TEXT NOT NULL
 */
export const table_present = async (
  name: string,
  db: string,
  schema: string | string[],
  { force = false }: { force?: boolean } = {},
): Promise<StateReturn> =>
  failOnError(name, async () => {
    const sql = Array.isArray(schema)
      ? `CREATE TABLE ${sqliteName(name)} (${schema.join(',')})`
      : schema.trim().replace(/\s*;$/, '');
    const have = await sqlOf(name, db);
    if (have === undefined) {
      const changes = { new: sql };
      if (__opts__.test) return would(name, `'${name}' will be created`, changes);
      await sqliteRun(db, sql);
      return changed(name, `Created table '${name}'`, changes);
    }
    if (have === sql) return unchanged(name, `'${name}' exists with matching schema`);
    if (!force) return failed(name, `Expected schema=${sql}\nactual schema=${have}`);
    const changes = { old: have, new: sql };
    if (__opts__.test) return would(name, `'${name}' will be replaced`, changes);
    await sqliteRunAll(db, [{ sql: `DROP TABLE ${sqliteName(name)}` }, { sql }]);
    return changed(name, `Replaced '${name}'`, changes);
  });

/**
 * A table is not there.
 *
 * @param name the table
 * @param db the file
 * @example
 * badservers:
 *   sqlite3.table_absent:
 *     - db: /var/www/data/users.sqlite
 */
export const table_absent = async (name: string, db: string): Promise<StateReturn> =>
  failOnError(name, async () => {
    const old = await sqlOf(name, db);
    if (old === undefined) return unchanged(name, `'${name}' is already absent`);
    if (__opts__.test) return would(name, `'${name}' will be dropped`, { old });
    await sqliteRun(db, `DROP TABLE ${sqliteName(name)}`);
    return changed(name, `'${name}' was dropped`, { old });
  });

/**
 * A table has a row with this data. One that is there with other data is changed with `update`, else
 * the state fails; so it does when more than one row is found.
 *
 * @param name a name for this
 * @param db the file
 * @param table the table
 * @param data values by column
 * @param where_sql the condition that finds the row
 * @param where_args values of the condition's `?`
 * @param update true: change a row that has other data
 * @example
 * john:
 *   sqlite3.row_present:
 *     - db: /var/www/app.sqlite
 *     - table: users
 *     - where_sql: email = ?
 *     - where_args: [john@example.com]
 *     - data:
 *         email: john@example.com
 *         name: John
 */
export const row_present = async (
  name: string,
  db: string,
  table: string,
  data: PlainDict,
  where_sql: string,
  { where_args = null, update = false }: { where_args?: Plain[] | null; update?: boolean } = {},
): Promise<StateReturn> =>
  failOnError(name, async () => {
    const where = where_args ?? [];
    const rows = await rowsOf(db, table, where_sql, where).catch(error => {
      // An earlier state may be to make the table.
      if (__opts__.test && /no such table|unable to open/.test(messageOf(error))) return [];
      throw error;
    });
    const [old] = rows;
    if (rows.length > 1) return failed(name, 'More than one row matched the specified query');
    const columns = Object.keys(data).map(sqliteName);
    const values = Object.values(data);
    if (!old) {
      if (__opts__.test) return would(name, `Row will be inserted into ${table}`, { new: data });
      await sqliteRun(
        db,
        `INSERT INTO ${sqliteName(table)} (${columns.join(',')}) VALUES (${columns.map(() => '?').join(',')})`,
        values,
      );
      return changed(name, 'Inserted row', { new: data });
    }
    if (
      Object.entries(data).every(
        ([key, value]) => !Object.hasOwn(old, key) || same(old[key], value),
      )
    )
      return unchanged(name, 'Row exists');
    if (!update) return failed(name, 'Existing data does not match desired state');
    const changes = { old, new: data };
    if (__opts__.test) return would(name, `Row will be updated in ${table}`, changes);
    const set = columns.map(column => `${column}=?`).join(',');
    const sql = `UPDATE ${sqliteName(table)} SET ${set} WHERE ${where_sql}`;
    const answer = await sqliteRun(db, sql, [...values, ...where]);
    return answer.changed === 1
      ? changed(name, 'Row updated', changes)
      : failed(name, 'Row update failed');
  });

/**
 * A table does not have a row. The state fails when more than one is found.
 *
 * @param name a name for this
 * @param db the file
 * @param table the table
 * @param where_sql the condition that finds the row
 * @param where_args values of the condition's `?`
 * @example
 * john is gone:
 *   sqlite3.row_absent:
 *     - db: /var/www/app.sqlite
 *     - table: users
 *     - where_sql: email = ?
 *     - where_args: [john@example.com]
 */
export const row_absent = async (
  name: string,
  db: string,
  table: string,
  where_sql: string,
  where_args: Plain[] | null = null,
): Promise<StateReturn> =>
  failOnError(name, async () => {
    const where = where_args ?? [];
    const rows = await rowsOf(db, table, where_sql, where);
    const [old] = rows;
    if (!old) return unchanged(name, 'Row is absent');
    if (rows.length > 1) return failed(name, 'More than one row matched the specified query');
    if (__opts__.test) return would(name, `Row will be removed in ${table}`, { old });
    const answer = await sqliteRun(
      db,
      `DELETE FROM ${sqliteName(table)} WHERE ${where_sql}`,
      where,
    );
    return answer.changed === 1
      ? changed(name, 'Row removed', { old })
      : failed(name, 'Unable to remove row');
  });

/** The words that made a table. */
const sqlOf = async (name: string, db: string): Promise<string | undefined> => {
  // The program makes a file that is not there, in test mode too.
  if (!hasDatabase(db)) return undefined;
  const { rows } = await sqliteRun(
    db,
    "SELECT sql FROM sqlite_master WHERE type='table' AND name=?",
    [name],
  );
  const [row] = rows;
  return row ? String(row[0]) : undefined;
};

const rowsOf = async (
  db: string,
  table: string,
  where_sql: string,
  where_args: readonly Plain[],
): Promise<Row[]> => {
  if (!hasDatabase(db))
    throw new CommandExecutionError(
      existsSync(dirname(sqliteFile(db)))
        ? `no such table: ${table}`
        : 'unable to open database file',
    );
  const { columns, rows } = await sqliteRun(
    db,
    `SELECT * FROM ${sqliteName(table)} WHERE ${where_sql}`,
    where_args,
  );
  return rows.map(row =>
    Object.fromEntries(columns.map((column, at) => [column, row[at] ?? null])),
  );
};

/** As Python compares: true is 1. */
const same = (have: SqliteValue | undefined, wanted: Plain): boolean =>
  have === (typeof wanted === 'boolean' ? Number(wanted) : wanted);
