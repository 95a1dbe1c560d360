import type { PostgresOptions } from './postgres-run.ts';

/** How postgres states say where the server is. */
export type DbOptions = {
  /** the account to run psql as */
  user?: string | null;
  /** the database to connect to */
  maintenance_db?: string | null;
  /** password of `db_user` */
  db_password?: string | null;
  /** the server, or the folder of its socket */
  db_host?: string | null;
  /** the server's port */
  db_port?: string | number | null;
  /** the role to log in as */
  db_user?: string | null;
};

/** Where the server of a schema is: its database is named apart. */
export type SchemaOptions = {
  /** the account to run psql as */
  user?: string | null;
  /** the role to log in as */
  db_user?: string | null;
  /** password of `db_user` */
  db_password?: string | null;
  /** the server, or the folder of its socket */
  db_host?: string | null;
  /** the server's port */
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
