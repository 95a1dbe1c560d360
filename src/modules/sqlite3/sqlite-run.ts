import { resolve } from 'node:path';
import { runCommand } from '../_shared/commands/run-command.ts';
import { which } from '../_shared/commands/which.ts';
import { existsSync } from '../_shared/safe-fs/fs.ts';
import { CommandExecutionError, type Plain } from '../api.ts';
import { oneStatement, readQuoted, type SqliteValue, sqliteValue } from './sqlite-statement.ts';

export type SqliteResult = {
  readonly columns: string[];
  readonly rows: SqliteValue[][];
  /** How many rows the statement added, changed or removed. */
  readonly changed: number;
};

/** The file of a database, from `/` on as in Salt; `:memory:` is none, and gone after each call. */
export const sqliteFile = (db: string): string => (db === ':memory:' ? db : resolve('/', db));

export const hasDatabase = (db: string): boolean => existsSync(sqliteFile(db));

export const sqlitePath = (): string | undefined => which('sqlite3');

/**
 * Runs one statement with the program sqlite3. The statement and the values of its `?` go through
 * stdin, so that they cannot be seen in the list of processes.
 *
 * @throws CommandExecutionError with SQLite's message
 */
export const sqliteRun = async (
  db: string,
  sql: string,
  values: readonly Plain[] = [],
): Promise<SqliteResult> => sqliteRunAll(db, [{ sql, values }]);

/** Runs statements, all of them or none; returns the result of the last one. */
export const sqliteRunAll = async (
  db: string,
  statements: readonly { readonly sql: string; readonly values?: readonly Plain[] }[],
): Promise<SqliteResult> => {
  const program = sqlitePath();
  if (!program) throw new CommandExecutionError('The program sqlite3 is not installed.');
  const many = statements.length > 1;
  const script = [
    '.bail on',
    '.timeout 5000',
    '.mode quote',
    '.headers on',
    ...(many ? ['BEGIN;'] : []),
    ...statements.flatMap(({ sql, values = [] }) => [
      ...parameters(values),
      `${oneStatement(sql, values.length)}\n;`,
    ]),
    '.headers off',
    'SELECT changes();',
    ...(many ? ['COMMIT;'] : []),
    '',
  ].join('\n');
  const { code, stdout, stderr } = await runCommand(
    [program, '-batch', '-init', '/dev/null', sqliteFile(db)],
    { plainLocale: true, cwd: '/', stdin: script },
  );
  if (code !== 0 || stderr.trim() !== '') throw new CommandExecutionError(complaint(stderr, code));
  const all = readQuoted(stdout);
  const changed = Number(all.at(-1)?.[0] ?? 0);
  const [head = [], ...rows] = all.slice(0, -1);
  return { columns: head.map(String), rows, changed };
};

/** The table that the program takes the values of `?` from. */
const parameters = (values: readonly Plain[]): string[] =>
  values.length === 0
    ? []
    : [
        '.parameter init',
        'DELETE FROM temp.sqlite_parameters;',
        ...values.map(
          (value, at) =>
            `INSERT INTO temp.sqlite_parameters VALUES ('?${at + 1}', ${sqliteValue(value)});`,
        ),
      ];

/** Without the place in what the program was given, and its number. */
const complaint = (stderr: string, code: number): string => {
  const [line = ''] = stderr.trim().split('\n');
  const said = line
    .replace(/^(?:Parse error|Runtime error|Error)(?::? near line \d+)?: /, '')
    .replace(/ \(\d+\)$/, '');
  return said || `sqlite3 ended with ${code}`;
};
