/** Extensions in databases of PostgreSQL. */

import { salt } from '../../_shared/states/call.ts';
import { compareDebian } from '../../_shared/text/package-version.ts';
import type { PlainDict, StateReturn } from '../../api.ts';
import { type DbOptions, dbArgs } from '../postgres-db.ts';
import { oneStep, postgresVirtual, removal } from '../postgres-state.ts';

/** Extensions of a PostgreSQL database. */
export const __virtual__ = postgresVirtual;

/**
 * A database (`maintenance_db`) has an extension.
 *
 * @param name the extension
 * @param if_not_exists no error when another makes it at the same time
 * @param schema the schema of its objects
 * @param ext_version its version
 * @param from_version the version it replaces
 * @example
 * hstore:
 *   postgres_extension.present:
 *     - maintenance_db: shop
 */
export const present = async (
  name: string,
  {
    if_not_exists = true,
    schema = null,
    ext_version = null,
    from_version = null,
    ...rest
  }: {
    if_not_exists?: boolean;
    schema?: string | null;
    ext_version?: string | null;
    from_version?: string | null;
  } & DbOptions = {},
): Promise<StateReturn> => {
  const where = dbArgs(rest);
  const found = { isThere: false };
  const verb = (): string => (found.isThere ? 'upgrade' : 'install');
  const done = (): string => (found.isThere ? 'upgraded' : 'installed');
  return oneStep(name, {
    due: async () => {
      const all: PlainDict = await salt('postgres.installed_extensions')(where);
      const have = Object.hasOwn(all, name) ? (all[name] as PlainDict) : undefined;
      found.isThere = have !== undefined;
      return (
        !have ||
        (schema !== null && have.extrelocatable === 't' && have.schema_name !== schema) ||
        (ext_version !== null && compareDebian(String(have.extversion), String(ext_version)) < 0)
      );
    },
    inDatabase: 'makes',
    done: `Extension ${name} is already present`,
    would: () => `Extension ${name} is set to be ${done()}`,
    work: () =>
      salt('postgres.create_extension')(name, {
        ...{ if_not_exists, schema, ext_version, from_version },
        ...where,
      }),
    success: () => `The extension ${name} has been ${done()}`,
    failure: () => `Failed to ${verb()} extension ${name}`,
    changes: () => ({ [name]: found.isThere ? 'Upgraded' : 'Installed' }),
  });
};

/**
 * A database (`maintenance_db`) does not have an extension.
 *
 * @param name the extension
 * @param if_exists no error when another removes it at the same time
 * @param restrict refuse while something needs it
 * @param cascade remove what needs it, too: true unless `restrict` is, as in Salt
 * @example
 * hstore:
 *   postgres_extension.absent:
 *     - maintenance_db: shop
 */
export const absent = async (
  name: string,
  {
    if_exists = true,
    restrict = false,
    cascade = null,
    ...rest
  }: { if_exists?: boolean; restrict?: boolean; cascade?: boolean | null } & DbOptions = {},
): Promise<StateReturn> => {
  const where = dbArgs(rest);
  return removal('Extension', name, {
    exists: () => salt('postgres.is_installed_extension')(name, where),
    remove: () => salt('postgres.drop_extension')(name, { if_exists, restrict, cascade, ...where }),
  });
};
