import type { PlainDict } from '../../../api.ts';
import {
  type PostgresAccount,
  type PostgresLogin,
  type PostgresOptions,
  psqlRows,
  quoteLiteral,
  quoteName,
} from '../../postgres-run.ts';

/**
 * The tablespaces by name, with owner and folder.
 *
 * @example tsalt-ssh db1 postgres.tablespace_list
 */
export const tablespace_list = async (options: PostgresOptions = {}): Promise<PlainDict> =>
  Object.fromEntries(
    (
      await psqlRows(
        `SELECT spcname AS "Name", rolname AS "Owner", spcacl AS "ACL",
 spcoptions AS "Opts", pg_tablespace_location(t.oid) AS "Location"
 FROM pg_tablespace t JOIN pg_roles r ON r.oid = t.spcowner ORDER BY 1`,
        options,
      )
    ).map(({ Name = '', ...row }) => [Name, row]),
  );

/**
 * Whether a tablespace is there.
 *
 * @param name the tablespace
 * @example tsalt-ssh db1 postgres.tablespace_exists fast
 */
export const tablespace_exists = async (
  name: string,
  options: PostgresOptions = {},
): Promise<boolean> => Object.hasOwn(await tablespace_list(options), name);

const optionWords = (options: PlainDict): string =>
  Object.entries(options)
    .map(([key, value]) => `${quoteName(key)} = ${quoteLiteral(String(value))}`)
    .join(', ');

/**
 * Makes a tablespace in a folder that is there, empty, and the server's own.
 *
 * @param name the tablespace
 * @param location the folder
 * @param options settings, as `{random_page_cost: 1.1}`
 * @param owner its owner
 * @example tsalt-ssh db1 postgres.tablespace_create fast /srv/fast
 */
export const tablespace_create = async (
  name: string,
  location: string,
  {
    options = null,
    owner = null,
    ...where
  }: { options?: PlainDict | null; owner?: string | null } & PostgresOptions = {},
): Promise<true> => {
  const by = owner ? ` OWNER ${quoteName(owner)}` : '';
  const settings = options ? ` WITH (${optionWords(options)})` : '';
  await psqlRows(
    `CREATE TABLESPACE ${quoteName(name)}${by} LOCATION ${quoteLiteral(location)}${settings}`,
    where,
  );
  return true;
};

/**
 * Changes a tablespace.
 *
 * @param name the tablespace
 * @param new_name its new name
 * @param new_owner its owner
 * @param set_option settings to make
 * @param reset_option the name of a setting to take back
 * @example tsalt-ssh db1 postgres.tablespace_alter fast new_owner=shop
 */
export const tablespace_alter = async (
  name: string,
  options: PostgresLogin & {
    new_name?: string | null;
    new_owner?: string | null;
    set_option?: PlainDict | null;
    reset_option?: string | null;
  } & PostgresAccount = {},
): Promise<true> => {
  const { new_name, new_owner, set_option, reset_option, ...where } = options;
  const start = `ALTER TABLESPACE ${quoteName(name)}`;
  const parts = [
    ...(new_owner ? [`${start} OWNER TO ${quoteName(new_owner)};`] : []),
    ...(set_option ? [`${start} SET (${optionWords(set_option)});`] : []),
    ...(reset_option ? [`${start} RESET (${quoteName(reset_option)});`] : []),
    ...(new_name ? [`${start} RENAME TO ${quoteName(new_name)};`] : []),
  ];
  if (parts.length > 0) await psqlRows(parts.join('\n'), where);
  return true;
};

/**
 * Removes a tablespace that is empty.
 *
 * @param name the tablespace
 * @example tsalt-ssh db1 postgres.tablespace_remove fast
 */
export const tablespace_remove = async (
  name: string,
  options: PostgresOptions = {},
): Promise<true> => {
  await psqlRows(`DROP TABLESPACE ${quoteName(name)}`, options);
  return true;
};

/**
 * The languages of a database.
 *
 * @param maintenance_db the database
 * @example tsalt-ssh db1 postgres.language_list shop
 */
export const language_list = async (
  maintenance_db: string,
  options: Omit<PostgresOptions, 'maintenance_db'> = {},
): Promise<PlainDict> =>
  Object.fromEntries(
    (
      await psqlRows('SELECT lanname AS name FROM pg_language ORDER BY 1', {
        ...options,
        maintenance_db,
      })
    ).map(({ name = '' }) => [name, name]),
  );

/**
 * Whether a database has a language.
 *
 * @param name the language
 * @param maintenance_db the database
 * @example tsalt-ssh db1 postgres.language_exists plpgsql shop
 */
export const language_exists = async (
  name: string,
  maintenance_db: string,
  options: Omit<PostgresOptions, 'maintenance_db'> = {},
): Promise<boolean> => Object.hasOwn(await language_list(maintenance_db, options), name);

/**
 * Installs a language into a database.
 *
 * @param name the language
 * @param maintenance_db the database
 * @example tsalt-ssh db1 postgres.language_create plperl shop
 */
export const language_create = async (
  name: string,
  maintenance_db: string,
  options: Omit<PostgresOptions, 'maintenance_db'> = {},
): Promise<true> => {
  await psqlRows(`CREATE LANGUAGE ${quoteName(name)}`, { ...options, maintenance_db });
  return true;
};

/**
 * Removes a language from a database.
 *
 * @param name the language
 * @param maintenance_db the database
 * @example tsalt-ssh db1 postgres.language_remove plperl shop
 */
export const language_remove = async (
  name: string,
  maintenance_db: string,
  options: Omit<PostgresOptions, 'maintenance_db'> = {},
): Promise<true> => {
  await psqlRows(`DROP LANGUAGE ${quoteName(name)}`, { ...options, maintenance_db });
  return true;
};
