import { createHash } from 'node:crypto';
import { runCommand } from '../_shared/commands/run-command.ts';
import { which } from '../_shared/commands/which.ts';
import { withSecretFile } from '../_shared/files/secret-file.ts';
import { configText } from '../_shared/states/config-option.ts';
import { CommandExecutionError, type PlainDict } from '../api.ts';

/**
 * The connection to a MySQL or MariaDB server; missing options are read from `mysql.*` of the
 * configuration.
 */
export type MysqlOptions = {
  /** The server. */
  connection_host?: string | null;
  /** The account to log in as. */
  connection_user?: string | null;
  /** Its password. */
  connection_pass?: string | null;
  /** The server's port. */
  connection_port?: number | string | null;
  /** The database to use. */
  connection_db?: string | null;
  /** The server's socket. */
  connection_unix_socket?: string | null;
  /** A file with such options, as `~/.my.cnf`, used instead of the configuration's. */
  connection_default_file?: string | null;
  /** A further group in that file. */
  connection_default_group?: string | null;
  /** The character set, by default utf8mb4. */
  connection_charset?: string | null;
};

/** The result of a query. */
export type MysqlResult = {
  'query time': { human: string; raw: string };
  'rows returned'?: number;
  'rows affected'?: number;
  columns?: string[];
  results?: (string | null)[][];
};

export type MysqlRow = Record<string, string | null>;

export const mysqlPath = (): string | undefined => which('mariadb') ?? which('mysql');

const keys = ['host', 'user', 'pass', 'port', 'unix_socket'] as const;
const names = { host: 'host', user: 'user', pass: 'password', port: 'port', unix_socket: 'socket' };

/**
 * Runs SQL with the client program and returns the rows of its queries. The SQL is passed on stdin
 * and the login data in a file, so neither is visible in the process list.
 *
 * @throws CommandExecutionError `MySQL Error 1045: …`
 */
export const mysqlRows = async (
  sql: string,
  options: MysqlOptions = {},
  database: string | null = null,
): Promise<MysqlRow[]> => {
  const [head, ...rows] = await mysqlTable(sql, options, database);
  return rows.map(row =>
    // A column may be named NULL, as in SELECT NULL.
    Object.fromEntries((head ?? []).map((name, at) => [name ?? 'NULL', row[at] ?? null])),
  );
};

/**
 * Runs SQL like `mysqlRows`, but returns the column names as the first row, because two columns may
 * have the same name.
 */
export const mysqlTable = async (
  sql: string,
  options: MysqlOptions = {},
  database: string | null = null,
): Promise<(string | null)[][]> => {
  const program = mysqlPath();
  if (!program) throw new CommandExecutionError('Neither mariadb nor mysql is installed.');
  const base = database ?? options.connection_db ?? (await configText('mysql.db'));
  const argv = (file: string): [string, ...string[]] => [
    program,
    `--defaults-extra-file=${file}`,
    ...(options.connection_default_group
      ? [`--defaults-group-suffix=${options.connection_default_group}`]
      : []),
    ...['--batch', '--binary-mode', '--skip-auto-rehash', '--connect-timeout=10'],
    `--default-character-set=${options.connection_charset || 'utf8mb4'}`,
    ...(base ? [`--database=${base}`] : []),
  ];
  const start = "SET SESSION sql_mode = REPLACE(@@sql_mode, 'NO_BACKSLASH_ESCAPES', '');\n";
  const { code, stdout, stderr } = await withSecretFile(await loginFile(options), undefined, file =>
    runCommand(argv(file), { plainLocale: true, cwd: '/', stdin: start + sql }),
  );
  if (code === 0) return readTable(stdout);
  const told = /ERROR (\d+) \([^)]*\)(?: at line \d+)?: ([\s\S]*)/.exec(stderr);
  throw new CommandExecutionError(
    told ? `MySQL Error ${told[1]}: ${told[2]?.trim()}` : stderr.trim(),
  );
};

/**
 * Runs `work`. If the login of this account is refused, runs it again with its new password, which
 * an earlier run or state may have set.
 */
export const withNewPassword = async <T>(
  user: string,
  password: string | null,
  where: MysqlOptions,
  work: (where: MysqlOptions) => Promise<T>,
): Promise<T> => {
  try {
    return await work(where);
  } catch (error) {
    const refused = `MySQL Error 1045: Access denied for user '${user}'@`;
    if (!password || !String(error).includes(refused)) throw error;
    return work({ ...where, connection_pass: String(password) });
  }
};

const loginFile = async (options: MysqlOptions): Promise<string> => {
  const file = options.connection_default_file ?? (await configText('mysql.default_file'));
  const own = options.connection_default_file != null;
  const lines: string[] = [];
  for (const key of keys) {
    const given = options[`connection_${key}`];
    const value = given ?? (own ? undefined : await configText(`mysql.${key}`));
    if (value !== undefined && value !== null && value !== '')
      lines.push(`${names[key]}="${escapeOption(String(value))}"`);
  }
  return `${file ? `!include ${file}\n` : ''}[client]\n${lines.join('\n')}\n`;
};

const escapeOption = (value: string): string =>
  value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('\r', '\\r');

const readTable = (text: string): (string | null)[][] =>
  text === ''
    ? []
    : text
        .replace(/\n$/, '')
        .split('\n')
        .map(line => line.split('\t').map(unescapeField));

/** Converts these columns of a row to numbers: the client program returns only strings. */
export const withNumbers = (row: MysqlRow, columns: readonly string[]): PlainDict =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      value !== null && columns.includes(name) ? Number(value) : value,
    ]),
  );

const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', '0': '\0', '\\': '\\' };

const unescapeField = (field: string): string | null =>
  field === 'NULL'
    ? null
    : field.replace(/\\([nt0\\])/g, (_, code: string) => escapes[code] ?? code);

/** Returns a string as an SQL literal. */
export const mysqlText = (text: string): string =>
  `'${text.replace(/[\\']/g, '\\$&').replaceAll('\0', '\\0')}'`;

/** Returns a name as an SQL identifier. */
export const mysqlName = (name: string): string => `\`${name.replaceAll('`', '``')}\``;

export const mysqlAccount = (user: string, host: string): string =>
  `${mysqlText(user)}@${mysqlText(host)}`;

/** Returns the hash that `mysql_native_password` stores for a password. */
export const nativeHash = (password: string): string => {
  const sha = (data: string | Buffer): Buffer => createHash('sha1').update(data).digest();
  return `*${sha(sha(password)).toString('hex').toUpperCase()}`;
};
