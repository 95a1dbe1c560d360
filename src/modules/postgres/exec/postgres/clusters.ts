import { join } from 'node:path';
import { runChecked, runCommand } from '../../../_shared/commands/run-command.ts';
import { which } from '../../../_shared/commands/which.ts';
import { withSecretFile } from '../../../_shared/files/secret-file.ts';
import { statSync } from '../../../_shared/safe-fs/fs.ts';
import { CommandExecutionError } from '../../../api.ts';
import { postgresProgram } from '../../postgres-run.ts';

const isFile = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;

/**
 * Whether a folder is a data directory.
 *
 * @param name the folder
 * @example tsalt-ssh db1 postgres.datadir_exists /var/lib/pgsql/data
 */
export const datadir_exists = async (name: string): Promise<boolean> =>
  isFile(join(name, 'PG_VERSION')) && isFile(join(name, 'postgresql.conf'));

/**
 * Makes a data directory. False when it is one already.
 *
 * @param name the folder
 * @param auth how local connections log in
 * @param user the superuser of its databases
 * @param password the superuser's password
 * @param encoding the encoding of new databases
 * @param locale the locale of new databases
 * @param waldir the folder for its write-ahead log
 * @param checksums true: with checksums of its pages
 * @param runas the account it belongs to
 * @example tsalt-ssh db1 postgres.datadir_init /var/lib/pgsql/data
 */
export const datadir_init = async (
  name: string,
  {
    auth = 'password',
    user = null,
    password = null,
    encoding = 'UTF8',
    locale = null,
    waldir = null,
    checksums = false,
    runas = 'postgres',
  }: {
    auth?: string;
    user?: string | null;
    password?: string | null;
    encoding?: string;
    locale?: string | null;
    waldir?: string | null;
    checksums?: boolean;
    runas?: string | null;
  } = {},
): Promise<boolean> => {
  if (await datadir_exists(name)) return false;
  const program = postgresProgram('initdb');
  if (!program) throw new CommandExecutionError('initdb executable not found.');
  const account = runas ?? 'postgres';
  const run = (...more: string[]) =>
    runChecked(
      [
        program,
        ...[`--pgdata=${name}`, `--username=${user ?? account}`],
        ...[`--auth=${auth}`, `--encoding=${encoding}`],
        ...(locale === null ? [] : [`--locale=${locale}`]),
        ...(waldir === null ? [] : ['-X', waldir]),
        ...(checksums ? ['--data-checksums'] : []),
        ...more,
      ],
      { plainLocale: true, cwd: '/', runas: account },
    );
  if (password === null) await run();
  else await withSecretFile(password, account, path => run(`--pwfile=${path}`));
  return true;
};

type Cluster = { port: number; status: string; user: string; datadir: string; log: string };

/**
 * The clusters of Debian's postgresql-common, by `version/name`.
 *
 * @param verbose true: with port, status, owner, data directory and log
 * @example tsalt-ssh db1 postgres.cluster_list verbose=True
 */
export const cluster_list = async ({
  verbose = false,
}: {
  verbose?: boolean;
} = {}): Promise<string[] | { [cluster: string]: Cluster }> => {
  const all = await clusters();
  return verbose ? all : Object.keys(all);
};

const clusters = async (): Promise<{ [cluster: string]: Cluster }> => {
  const { stdout } = await runChecked([debianProgram('pg_lsclusters'), '--no-header'], {
    plainLocale: true,
    cwd: '/',
  });
  return Object.fromEntries(
    stdout.split('\n').flatMap(line => {
      const [version, name, port, status = '', user = '', datadir = '', log = ''] = line
        .trim()
        .split(/\s+/);
      return name
        ? [[`${version}/${name}`, { port: Number(port), status, user, datadir, log }]]
        : [];
    }),
  );
};

const debianProgram = (name: string): string => {
  const found = which(name);
  if (found) return found;
  throw new CommandExecutionError(
    `${name} is not installed: clusters by name are Debian's, of its package postgresql-common.`,
  );
};

/**
 * Whether there is a cluster.
 *
 * @param version its version of PostgreSQL
 * @param name its name
 * @example tsalt-ssh db1 postgres.cluster_exists 15 main
 */
export const cluster_exists = async (version: string | number, name = 'main'): Promise<boolean> =>
  Object.hasOwn(await clusters(), `${version}/${name}`);

/**
 * Makes a cluster without starting it. Returns the output of `pg_createcluster`.
 *
 * @param version its version of PostgreSQL
 * @param name its name
 * @param port its port
 * @param locale the locale of new databases
 * @param encoding the encoding of new databases
 * @param datadir its data directory
 * @param allow_group_access true: the owner's group may read its files
 * @param data_checksums true: with checksums of its pages
 * @param wal_segsize megabytes of a segment of its write-ahead log
 * @example tsalt-ssh db1 postgres.cluster_create 15 main locale=de_DE.UTF-8
 */
export const cluster_create = async (
  version: string | number,
  name = 'main',
  {
    port = null,
    locale = null,
    encoding = null,
    datadir = null,
    allow_group_access = null,
    data_checksums = null,
    wal_segsize = null,
  }: {
    port?: number | string | null;
    locale?: string | null;
    encoding?: string | null;
    datadir?: string | null;
    allow_group_access?: boolean | null;
    data_checksums?: boolean | null;
    wal_segsize?: number | string | null;
  } = {},
): Promise<string> => {
  const value = (flag: string, given: unknown): string[] => (given ? [flag, String(given)] : []);
  const own = [
    ...(allow_group_access === true ? ['--allow-group-access'] : []),
    ...(data_checksums === true ? ['--data-checksums'] : []),
    ...value('--wal-segsize', wal_segsize),
  ];
  const { stdout } = await runChecked(
    [
      debianProgram('pg_createcluster'),
      ...value('--port', port),
      ...value('--locale', locale),
      ...value('--encoding', encoding),
      ...value('--datadir', datadir),
      ...plain(version, name),
      ...(own.length > 0 ? ['--', ...own] : []),
    ],
    { plainLocale: true, cwd: '/' },
  );
  return stdout.trim();
};

/**
 * Removes a cluster with its databases and configuration.
 *
 * @param version its version of PostgreSQL
 * @param name its name
 * @param stop true: stop its server first
 * @example tsalt-ssh db1 postgres.cluster_remove 15 main stop=True
 */
export const cluster_remove = async (
  version: string | number,
  name = 'main',
  { stop = false }: { stop?: boolean } = {},
): Promise<true> => {
  const words = [...(stop ? ['--stop'] : []), ...plain(version, name)];
  const { code, stderr } = await runCommand([debianProgram('pg_dropcluster'), ...words], {
    plainLocale: true,
    cwd: '/',
  });
  if (code !== 0) throw new CommandExecutionError(stderr.trim());
  return true;
};

const plain = (version: string | number, name: string): [string, string] => {
  if (/^\d[\d.]*$/.test(String(version)) && /^[^-/\s][^/\s]*$/.test(name))
    return [`${version}`, name];
  throw new CommandExecutionError(`Not a version and name of a cluster: "${version}" "${name}"`);
};
