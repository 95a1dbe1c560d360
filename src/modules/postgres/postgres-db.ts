import type { PostgresOptions } from './postgres-run.ts';

/** How postgres states say where the server is. */
export type DbOptions = {
  /** The account to run psql as. */
  user?: string | null;
  /** The database to connect to. */
  maintenance_db?: string | null;
  /** The role's password. */
  db_password?: string | null;
  /** The server, or the folder of its socket. */
  db_host?: string | null;
  /** The server's port. */
  db_port?: string | number | null;
  /** The role to log in as. */
  db_user?: string | null;
};

/** Where the server of a schema is: its database is named apart. */
export type SchemaOptions = {
  /** The account to run psql as. */
  user?: string | null;
  /** The role to log in as. */
  db_user?: string | null;
  /** The role's password. */
  db_password?: string | null;
  /** The server, or the folder of its socket. */
  db_host?: string | null;
  /** The server's port. */
  db_port?: string | number | null;
};

export const dbArgs = ({
  user = null,
  maintenance_db = null,
  db_password = null,
  db_host = null,
  db_port = null,
  db_user = null,
}: DbOptions): PostgresOptions => ({
  runas: user,
  maintenance_db,
  password: db_password,
  host: db_host,
  port: db_port,
  user: db_user,
});
