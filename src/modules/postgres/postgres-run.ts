import { join } from 'node:path';
import { runCommand } from '../_shared/commands/run-command.ts';
import { which } from '../_shared/commands/which.ts';
import { withSecretFile } from '../_shared/files/secret-file.ts';
import { existsSync, readdirSync } from '../_shared/safe-fs/fs.ts';
import { configText } from '../_shared/states/config-option.ts';
import { CommandExecutionError } from '../api.ts';

/** How a PostgreSQL server is reached; what is missing comes from `postgres.*` of the configuration. */
export type PostgresOptions = PostgresLogin & PostgresAccount;

/** Where Salt has the account last, behind what a function is about. */
export type PostgresAccount = {
  /** The account to run psql as. */
  runas?: string | null;
};

export type PostgresLogin = {
  /** The role to log in as. */
  user?: string | null;
  /** The server, or the folder of its socket. */
  host?: string | null;
  /** The server's port. */
  port?: string | number | null;
  /** The database to connect to. */
  maintenance_db?: string | null;
  /** The role's password. */
  password?: string | null;
};

const fieldEnd = '\x1f';
const rowEnd = '\x1e';

/** A program of PostgreSQL, from PATH or where Debian and Red Hat keep versions of it. */
export const postgresProgram = (name: string): string | undefined =>
  which(name) ??
  ['/usr/lib/postgresql', '/usr']
    .filter(folder => existsSync(folder))
    .flatMap(folder =>
      readdirSync(folder)
        .filter(one => /^(?:\d|pgsql-)/.test(one))
        .map(one => join(folder, one, 'bin', name)),
    )
    .filter(path => existsSync(path))
    .at(-1);

export const psqlPath = (): string | undefined => postgresProgram('psql');

/**
 * Runs SQL by psql and returns the rows of its last query. The SQL goes through stdin, a password
 * through a file: neither can be seen in the list of processes.
 *
 * @throws CommandExecutionError with what the server said
 */
export const psqlRows = async (
  sql: string,
  options: PostgresOptions = {},
): Promise<Record<string, string>[]> => {
  const program = psqlPath();
  if (!program) throw new CommandExecutionError('psql is not installed.');
  const host = options.host || (await configText('postgres.host'));
  const port = options.port || (await configText('postgres.port'));
  const runas = options.runas || (!host || host.startsWith('/') ? 'postgres' : undefined);
  const user = options.user || (await configText('postgres.user')) || runas;
  const password = options.password || (await configText('postgres.pass'));
  const database =
    options.maintenance_db || (await configText('postgres.maintenance_db')) || 'postgres';
  const argv: [string, ...string[]] = [
    program,
    ...['--no-align', '--no-readline', '--no-psqlrc', '--no-password', '--quiet'],
    ...['--set=ON_ERROR_STOP=1', '--pset=footer=off'],
    `--field-separator=${fieldEnd}`,
    `--record-separator=${rowEnd}`,
    ...(user ? [`--username=${user}`] : []),
    ...(host ? [`--host=${host}`] : []),
    ...(port ? [`--port=${port}`] : []),
    `--dbname=${connectionText(database)}`,
    '--file=-',
  ];
  const run = (env: Record<string, string>) =>
    runCommand(argv, {
      plainLocale: true,
      cwd: '/',
      stdin: sql,
      env,
      ...(runas && runas !== process.env.USER ? { runas } : {}),
    });
  const { code, stdout, stderr } = password
    ? await withSecretFile(`*:*:*:*:${escapePass(password)}\n`, runas, path =>
        run({ PGPASSFILE: path }),
      )
    : await run({});
  if (code !== 0)
    throw new CommandExecutionError(
      `PostgreSQL: ${stderr.replace(/^psql:.*?(?=ERROR|FATAL|error)/gm, '').trim() || `psql ended with ${code}`}`,
    );
  return readRows(stdout);
};

const escapePass = (password: string): string => password.replace(/[\\:]/g, '\\$&');

/** A name that looks like a connection string is still only a name. */
const connectionText = (database: string): string =>
  /=|:\/\//.test(database) ? `dbname='${database.replace(/[\\']/g, '\\$&')}'` : database;

const readRows = (text: string): Record<string, string>[] => {
  const [head, ...rows] = text
    .replace(/\n$/, '')
    .split(rowEnd)
    .map(row => row.split(fieldEnd));
  if (!head || (head.length === 1 && head[0] === '')) return [];
  return rows.map(row => Object.fromEntries(head.map((name, at) => [name, row[at] ?? ''])));
};

/** A text as an SQL literal. */
export const quoteLiteral = (text: string): string => {
  const quoted = `'${text.replaceAll("'", "''").replaceAll('\\', '\\\\')}'`;
  return text.includes('\\') ? ` E${quoted}` : quoted;
};

/** A name as an SQL identifier. */
export const quoteName = (name: string): string => `"${name.replaceAll('"', '""')}"`;
