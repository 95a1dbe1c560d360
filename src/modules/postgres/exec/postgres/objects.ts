import { compareDebian } from '../../../_shared/text/package-version.ts';
import type { PlainDict } from '../../../api.ts';
import { dbArgs, type SchemaOptions } from '../../postgres-db.ts';
import { type PostgresOptions, psqlRows, quoteLiteral, quoteName } from '../../postgres-run.ts';

const keyed = (rows: Record<string, string>[]): PlainDict =>
  Object.fromEntries(rows.map(({ name = '', ...row }) => [name, row]));

/** Returns the rows by name. The name stays in each row. */
const named = (rows: Record<string, string>[], column: string): PlainDict =>
  Object.fromEntries(rows.map(row => [row[column] ?? '', row]));

/** Salt names the database first for what lives in one, and the server as its states do. */
const inside = (dbname: string, options: SchemaOptions): PostgresOptions => ({
  ...dbArgs(options),
  maintenance_db: dbname,
});

/**
 * The extensions that can be installed, by name.
 *
 * @example tsalt-ssh db1 postgres.available_extensions
 */
export const available_extensions = async (options: PostgresOptions = {}): Promise<PlainDict> =>
  named(await psqlRows('SELECT * FROM pg_available_extensions() ORDER BY name', options), 'name');

/**
 * The extensions a database has, by name, with version and schema.
 *
 * @example tsalt-ssh db1 postgres.installed_extensions maintenance_db=shop
 */
export const installed_extensions = async (options: PostgresOptions = {}): Promise<PlainDict> =>
  named(
    await psqlRows(
      `SELECT e.*, n.nspname AS schema_name FROM pg_extension e
 JOIN pg_namespace n ON n.oid = e.extnamespace ORDER BY e.extname`,
      options,
    ),
    'extname',
  );

/**
 * Whether a database has an extension.
 *
 * @param name the extension
 * @example tsalt-ssh db1 postgres.is_installed_extension hstore maintenance_db=shop
 */
export const is_installed_extension = async (
  name: string,
  options: PostgresOptions = {},
): Promise<boolean> => Object.hasOwn(await installed_extensions(options), name);

/**
 * Installs an extension, or brings it to a version or schema.
 *
 * @param name the extension
 * @param if_not_exists do nothing when it is there
 * @param schema the schema of its objects
 * @param ext_version its version
 * @param from_version the version it replaces
 * @example tsalt-ssh db1 postgres.create_extension hstore maintenance_db=shop
 */
export const create_extension = async (
  name: string,
  {
    if_not_exists = true,
    schema = null,
    ext_version = null,
    from_version = null,
    ...where
  }: {
    if_not_exists?: boolean;
    schema?: string | null;
    ext_version?: string | null;
    from_version?: string | null;
  } & PostgresOptions = {},
): Promise<true> => {
  const have = (await installed_extensions(where))[name] as PlainDict | undefined;
  const quoted = quoteName(name);
  if (have) {
    if (schema && have.extrelocatable === 't' && have.schema_name !== schema)
      await psqlRows(`ALTER EXTENSION ${quoted} SET SCHEMA ${quoteName(schema)}`, where);
    if (ext_version && have.extversion !== ext_version)
      await psqlRows(`ALTER EXTENSION ${quoted} UPDATE TO ${quoteLiteral(ext_version)}`, where);
    return true;
  }
  const words = [
    ...(schema ? [`SCHEMA ${quoteName(schema)}`] : []),
    ...(ext_version ? [`VERSION ${quoteLiteral(ext_version)}`] : []),
    ...(from_version ? [`FROM ${quoteLiteral(from_version)}`] : []),
  ];
  await psqlRows(
    `CREATE EXTENSION ${if_not_exists ? 'IF NOT EXISTS ' : ''}${quoted} ${words.length > 0 ? `WITH ${words.join(' ')}` : ''}`,
    where,
  );
  return true;
};

/**
 * How a database stands to an extension: `EXTENSION NOT INSTALLED`, or `EXTENSION INSTALLED` with `EXTENSION TO
 * UPGRADE` when its version is older than `ext_version`, and `EXTENSION TO MOVE` when it may go to `schema` and is not there.
 *
 * @param name the extension
 * @param ext_version the version it is to have
 * @param schema the schema it is to be in
 * @example tsalt-ssh db1 postgres.create_metadata hstore maintenance_db=shop
 */
export const create_metadata = async (
  name: string,
  {
    ext_version = null,
    schema = null,
    ...where
  }: { ext_version?: string | number | null; schema?: string | null } & PostgresOptions = {},
): Promise<string[]> => {
  const have = await get_installed_extension(name, where);
  if (have === null) return ['EXTENSION NOT INSTALLED'];
  const isOlder =
    ext_version !== null && compareDebian(String(have.extversion), String(ext_version)) < 0;
  const isElsewhere = schema !== null && have.extrelocatable === 't' && have.schema_name !== schema;
  return [
    'EXTENSION INSTALLED',
    ...(isOlder ? ['EXTENSION TO UPGRADE'] : []),
    ...(isElsewhere ? ['EXTENSION TO MOVE'] : []),
  ];
};

/**
 * Removes an extension; true as well when it is not there.
 *
 * @param name the extension
 * @param if_exists no error when it is not there
 * @param restrict refuse while something needs it
 * @param cascade remove what needs it, too: true unless `restrict` is, as in Salt
 * @example tsalt-ssh db1 postgres.drop_extension hstore maintenance_db=shop
 */
export const drop_extension = async (
  name: string,
  {
    if_exists = false,
    restrict = false,
    cascade = null,
    ...where
  }: { if_exists?: boolean; restrict?: boolean; cascade?: boolean | null } & PostgresOptions = {},
): Promise<true> => {
  if (!(await is_installed_extension(name, where))) return true;
  const end = (cascade ?? !restrict) ? ' CASCADE' : ' RESTRICT';
  await psqlRows(`DROP EXTENSION ${if_exists ? 'IF EXISTS ' : ''}${quoteName(name)}${end}`, where);
  return true;
};

/**
 * Returns details of an extension that can be installed; null if it is unknown.
 *
 * @param name the extension
 * @example tsalt-ssh db1 postgres.get_available_extension hstore
 */
export const get_available_extension = async (
  name: string,
  options: PostgresOptions = {},
): Promise<PlainDict | null> => own(await available_extensions(options), name);

/**
 * Returns details of an extension that is installed in a database; null when it is not.
 *
 * @param name the extension
 * @example tsalt-ssh db1 postgres.get_installed_extension hstore maintenance_db=shop
 */
export const get_installed_extension = async (
  name: string,
  options: PostgresOptions = {},
): Promise<PlainDict | null> => own(await installed_extensions(options), name);

/**
 * Whether an extension can be installed.
 *
 * @param name the extension
 * @example tsalt-ssh db1 postgres.is_available_extension hstore
 */
export const is_available_extension = async (
  name: string,
  options: PostgresOptions = {},
): Promise<boolean> => (await get_available_extension(name, options)) !== null;

const own = (all: PlainDict, name: string): PlainDict | null =>
  Object.hasOwn(all, name) ? (all[name] as PlainDict) : null;

/**
 * The schemas of a database, by name, with owner and rights.
 *
 * @param dbname the database
 * @example tsalt-ssh db1 postgres.schema_list shop
 */
export const schema_list = async (
  dbname: string,
  options: SchemaOptions = {},
): Promise<PlainDict> =>
  keyed(
    await psqlRows(
      `SELECT nspname AS name, rolname AS owner, nspacl AS acl
 FROM pg_namespace n JOIN pg_roles r ON r.oid = n.nspowner ORDER BY 1`,
      inside(dbname, options),
    ),
  );

/**
 * One schema of a database; null when it is not there.
 *
 * @param dbname the database
 * @param name the schema
 * @example tsalt-ssh db1 postgres.schema_get shop sales
 */
export const schema_get = async (
  dbname: string,
  name: string,
  options: SchemaOptions = {},
): Promise<PlainDict | null> => {
  const all = await schema_list(dbname, options);
  return Object.hasOwn(all, name) ? (all[name] as PlainDict) : null;
};

/**
 * Whether a database has a schema.
 *
 * @param dbname the database
 * @param name the schema
 * @example tsalt-ssh db1 postgres.schema_exists shop sales
 */
export const schema_exists = async (
  dbname: string,
  name: string,
  options: SchemaOptions = {},
): Promise<boolean> => (await schema_get(dbname, name, options)) !== null;

/**
 * Makes a schema.
 *
 * @param dbname the database
 * @param name the schema
 * @param owner its owner
 * @example tsalt-ssh db1 postgres.schema_create shop sales owner=shop
 */
export const schema_create = async (
  dbname: string,
  name: string,
  { owner = null, ...where }: { owner?: string | null } & SchemaOptions = {},
): Promise<true> => {
  const by = owner ? ` AUTHORIZATION ${quoteName(owner)}` : '';
  await psqlRows(`CREATE SCHEMA ${quoteName(name)}${by}`, inside(dbname, where));
  return true;
};

/**
 * Removes a schema that is empty.
 *
 * @param dbname the database
 * @param name the schema
 * @example tsalt-ssh db1 postgres.schema_remove shop sales
 */
export const schema_remove = async (
  dbname: string,
  name: string,
  options: SchemaOptions = {},
): Promise<true> => {
  await psqlRows(`DROP SCHEMA ${quoteName(name)}`, inside(dbname, options));
  return true;
};
