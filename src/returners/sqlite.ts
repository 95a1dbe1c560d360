import { spawn } from 'node:child_process';
import { closeSync, constants } from 'node:fs';
import { messageOf } from '../protocol/error.ts';
import { openTrusted } from '../trust/check.ts';
import type { JobLoad, Returner, SaltReturn } from './returner.ts';

/** Milliseconds that one write may take. */
const longest = 30_000;

// The tables of Salt's returner sqlite3.
const tables = `PRAGMA busy_timeout = 10000;
CREATE TABLE IF NOT EXISTS jids (jid TEXT PRIMARY KEY, load TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS salt_returns (
  fun TEXT NOT NULL, jid TEXT NOT NULL, id TEXT NOT NULL, fun_args TEXT,
  date TEXT NOT NULL, full_ret TEXT NOT NULL, success TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS salt_returns_jid ON salt_returns (jid);
CREATE INDEX IF NOT EXISTS salt_returns_id ON salt_returns (id);`;

/**
 * The returner `sqlite`: Salt's tables in a file, written by the program `sqlite3`. Node 20 has no
 * SQLite of its own.
 *
 * @param database the file; it is made private
 */
export const sqliteReturner = (database: string): Returner => ({
  name: 'sqlite',
  begin: load => execute(database, statements([], load)),
  write: (returns, load, signal) => execute(database, statements(returns, load), signal),
});

const statements = (returns: readonly SaltReturn[], load: JobLoad): string => `${tables}
BEGIN IMMEDIATE;
INSERT OR REPLACE INTO jids SELECT ${text(load.jid)}, ${text(JSON.stringify(load))};
INSERT INTO salt_returns
  SELECT value ->> 'fun', value ->> 'jid', value ->> 'id', value ->> 'fun_args', value ->> '_stamp', value ->> 'full_ret', value ->> 'success'
  FROM json_each(${text(JSON.stringify(returns.map(rowOf)))});
COMMIT;
`;

const rowOf = (ret: SaltReturn): object => ({
  fun: ret.fun,
  jid: ret.jid,
  id: ret.id,
  fun_args: JSON.stringify(ret.fun_args),
  _stamp: ret._stamp,
  full_ret: JSON.stringify(ret),
  success: ret.success ? 'True' : 'False',
});

/** A text as SQL: hosts choose parts of it, and hexadecimal digits cannot end a literal. */
const text = (value: string): string =>
  `CAST(X'${Buffer.from(value, 'utf8').toString('hex')}' AS TEXT)`;

const execute = (database: string, sql: string, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    closeSync(
      openTrusted(database, constants.O_RDWR | constants.O_CREAT, 'The database of returns'),
    );
    const child = spawn('sqlite3', ['-batch', '-bail', database], {
      stdio: ['pipe', 'ignore', 'pipe'],
      timeout: longest,
      ...(signal === undefined ? {} : { signal }),
    });
    let errors = '';
    child.stderr.setEncoding('utf8').on('data', (said: string) => {
      errors = (errors + said).slice(0, 500);
    });
    child.once('error', error => {
      const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
      reject(new Error(isMissing ? 'the program sqlite3 is not installed' : messageOf(error)));
    });
    child.once('close', (code, killed) => {
      if (code === 0) resolve();
      else reject(new Error(errors.trim() || `sqlite3 ended with ${killed ?? code}`));
    });
    // It may end before it has read everything.
    child.stdin.on('error', () => undefined);
    child.stdin.end(sql);
  });
