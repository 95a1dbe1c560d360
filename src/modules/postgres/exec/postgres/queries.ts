/**
 * PostgreSQL through `psql`. Every function takes where the server is (`user`, `host`, `port`,
 * `maintenance_db`, `password`, `runas`); what is missing comes from `postgres.user`,
 * `postgres.host` … of the configuration or the pillar. Without a host, psql runs as `postgres`.
 */
import { type PostgresOptions, psqlPath, psqlRows } from '../../postgres-run.ts';

export const __virtual__ = (): true | [false, string] =>
  psqlPath() !== undefined || [false, 'psql is not installed.'];

/**
 * Runs SQL and returns the rows of its last query, each as a dict of strings.
 *
 * @param query the SQL
 * @example tsalt-ssh db1 postgres.psql_query 'select * from pg_stat_activity'
 */
export const psql_query = async (
  query: string,
  options: PostgresOptions & { write?: boolean } = {},
): Promise<Record<string, string>[]> => psqlRows(query, options);

/**
 * The server's version.
 *
 * @example tsalt-ssh db1 postgres.version
 */
export const version = async (options: PostgresOptions = {}): Promise<string> =>
  (await psqlRows('SHOW server_version', options))[0]?.server_version ?? '';
