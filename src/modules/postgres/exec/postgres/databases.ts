import { CommandExecutionError, type PlainDict } from '../../../api.ts';
import {
  type PostgresAccount,
  type PostgresLogin,
  type PostgresOptions,
  psqlRows,
  quoteLiteral,
  quoteName,
} from '../../postgres-run.ts';

const listing = `SELECT datname AS "Name", pga.rolname AS "Owner",
 pg_encoding_to_char(encoding) AS "Encoding", datcollate AS "Collate", datctype AS "Ctype",
 datacl AS "Access privileges", spcname AS "Tablespace"
 FROM pg_database pgd JOIN pg_roles pga ON pga.oid = pgd.datdba
 JOIN pg_tablespace pgts ON pgts.oid = pgd.dattablespace ORDER BY 1`;

/**
 * The databases by name, with owner, encoding, locale and tablespace.
 *
 * @example tsalt-ssh db1 postgres.db_list
 */
export const db_list = async (options: PostgresOptions = {}): Promise<PlainDict> =>
  Object.fromEntries(
    (await psqlRows(listing, options)).map(({ Name = '', ...row }) => [Name, row]),
  );

/**
 * Whether a database is there.
 *
 * @param name the database
 * @example tsalt-ssh db1 postgres.db_exists shop
 */
export const db_exists = async (name: string, options: PostgresOptions = {}): Promise<boolean> =>
  Object.hasOwn(await db_list(options), name);

/**
 * Makes a database.
 *
 * @param name the database
 * @param tablespace where it is kept
 * @param encoding its encoding, as `UTF8`
 * @param lc_collate its order of texts
 * @param lc_ctype its classes of characters
 * @param owner its owner
 * @param template the database to copy
 * @example tsalt-ssh db1 postgres.db_create shop owner=shop
 */
export const db_create = async (
  name: string,
  options: PostgresLogin & {
    tablespace?: string | null;
    encoding?: string | null;
    lc_collate?: string | null;
    lc_ctype?: string | null;
    owner?: string | null;
    template?: string | null;
  } & PostgresAccount = {},
): Promise<true> => {
  const { tablespace, encoding, lc_collate, lc_ctype, owner, template, ...where } = options;
  const words = [
    ...(owner ? [`OWNER = ${quoteName(owner)}`] : []),
    ...(template ? [`TEMPLATE = ${quoteName(template)}`] : []),
    ...(encoding ? [`ENCODING = ${quoteLiteral(encoding)}`] : []),
    ...(lc_collate ? [`LC_COLLATE = ${quoteLiteral(lc_collate)}`] : []),
    ...(lc_ctype ? [`LC_CTYPE = ${quoteLiteral(lc_ctype)}`] : []),
    ...(tablespace ? [`TABLESPACE = ${quoteName(tablespace)}`] : []),
  ];
  await psqlRows(
    `CREATE DATABASE ${quoteName(name)}${words.length > 0 ? ` WITH ${words.join(' ')}` : ''}`,
    where,
  );
  return true;
};

/**
 * Changes the owner or the tablespace of a database.
 *
 * @param name the database
 * @param tablespace where it is kept
 * @param owner its owner
 * @param owner_recurse true: everything in it gets that owner
 * @example tsalt-ssh db1 postgres.db_alter shop owner=shop
 */
export const db_alter = async (
  name: string,
  options: PostgresLogin & {
    tablespace?: string | null;
    owner?: string | null;
    owner_recurse?: boolean;
  } & PostgresAccount = {},
): Promise<true> => {
  const { tablespace, owner, owner_recurse, ...where } = options;
  if (owner)
    await psqlRows(`ALTER DATABASE ${quoteName(name)} OWNER TO ${quoteName(owner)}`, where);
  if (owner && owner_recurse) await owner_to(name, owner, inIt(where));
  if (tablespace)
    await psqlRows(
      `ALTER DATABASE ${quoteName(name)} SET TABLESPACE ${quoteName(tablespace)}`,
      where,
    );
  return true;
};

const inIt = ({ maintenance_db: _, ...where }: PostgresOptions) => where;

/**
 * Sets the owner of all schemas, tables, views, sequences, functions, aggregates and procedures.
 *
 * @param dbname the database
 * @param ownername the owner
 * @example tsalt-ssh db1 postgres.owner_to shop shop
 */
export const owner_to = async (
  dbname: string,
  ownername: string,
  options: Omit<PostgresOptions, 'maintenance_db'> = {},
): Promise<true> => {
  const outside = "NOT IN ('pg_catalog', 'information_schema') AND n.nspname !~ '^pg_toast'";
  const rows = await psqlRows(
    `SELECT format('SCHEMA %I', n.nspname) AS what FROM pg_namespace n WHERE n.nspname ${outside} AND n.nspname !~ '^pg_'
 UNION ALL SELECT format('%s %I.%I', CASE c.relkind WHEN 'S' THEN 'SEQUENCE' WHEN 'v' THEN 'VIEW' WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE 'TABLE' END, n.nspname, c.relname)
 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r','p','S','v','m') AND n.nspname ${outside}
 AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.objid = c.oid AND c.relkind = 'S' AND d.deptype IN ('a','i'))
 UNION ALL SELECT 'ROUTINE ' || p.oid::regprocedure FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname ${outside}
 AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')`,
    { ...options, maintenance_db: dbname },
  );
  const owner = quoteName(ownername);
  await psqlRows(
    `BEGIN;\n${rows.map(({ what }) => `ALTER ${what} OWNER TO ${owner};\n`).join('')}COMMIT;`,
    { ...options, maintenance_db: dbname },
  );
  return true;
};

/**
 * Removes a database. Who is connected to it is cut off.
 *
 * @param name the database
 * @example tsalt-ssh db1 postgres.db_remove shop
 */
export const db_remove = async (name: string, options: PostgresOptions = {}): Promise<boolean> => {
  if (['template0', 'template1', 'postgres'].includes(name))
    throw new CommandExecutionError(`The database ${name} belongs to PostgreSQL: it stays.`);
  const database = quoteName(name);
  await psqlRows(
    `REVOKE CONNECT ON DATABASE ${database} FROM public;
SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = ${quoteLiteral(name)} AND pid <> pg_backend_pid();
DROP DATABASE ${database};`,
    options,
  );
  return true;
};
