/**
 * Databases of SQLite, by its own program.
 *
 * @depends sqlite3
 */

import { runChecked } from '../../_shared/commands/run-command.ts';
import type { Plain } from '../../api.ts';
import { hasDatabase, sqlitePath, sqliteRun } from '../sqlite-run.ts';

export const __virtual__ = (): true | [false, string] =>
  sqlitePath() !== undefined || [false, 'The program sqlite3 is not installed.'];

/**
 * Returns the version of SQLite. Salt returns that of its Python library.
 *
 * @example tsalt-ssh '*' sqlite3.version
 */
export const version = async (): Promise<string> => sqlite_version();

/**
 * The version of SQLite.
 *
 * @example tsalt-ssh '*' sqlite3.sqlite_version
 */
export const sqlite_version = async (): Promise<string> => {
  const { stdout } = await runChecked(['sqlite3', '-version'], { plainLocale: true, cwd: '/' });
  return stdout.trim().split(' ')[0] ?? '';
};

/**
 * Runs one statement that returns no rows. The database file is made when it is missing.
 *
 * @param db the file
 * @param sql the statement
 * @example tsalt-ssh '*' sqlite3.modify /root/test.db 'CREATE TABLE test(id INT, testdata TEXT)'
 */
export const modify = async (
  db: string | null = null,
  sql: string | null = null,
): Promise<boolean> => {
  if (db === null) return false;
  await sqliteRun(db, sql ?? '');
  return true;
};

/**
 * Runs one statement and returns its rows, each as a list.
 *
 * @param db the file
 * @param sql the statement
 * @example tsalt-ssh '*' sqlite3.fetch /root/test.db 'SELECT * FROM test'
 */
export const fetch = async (db: string | null = null, sql: string | null = null): Promise<Plain> =>
  db === null ? false : (await sqliteRun(db, sql ?? '')).rows;

const namesOf = async (db: string | null, type: string): Promise<Plain> => {
  if (db === null) return false;
  if (!hasDatabase(db)) return [];
  return (
    await sqliteRun(db, 'SELECT name FROM sqlite_master WHERE type = ? ORDER BY name', [type])
  ).rows;
};

/**
 * The tables, each as a list with its name.
 *
 * @param db the file
 * @example tsalt-ssh '*' sqlite3.tables /root/test.db
 */
export const tables = async (db: string | null = null): Promise<Plain> => namesOf(db, 'table');

/**
 * The indexes, each as a list with its name.
 *
 * @param db the file
 * @example tsalt-ssh '*' sqlite3.indices /root/test.db
 */
export const indices = async (db: string | null = null): Promise<Plain> => namesOf(db, 'index');

/**
 * Alias of `sqlite3.indices`.
 *
 * @param db the file
 * @example tsalt-ssh '*' sqlite3.indexes /root/test.db
 */
export const indexes = async (db: string | null = null): Promise<Plain> => indices(db);
