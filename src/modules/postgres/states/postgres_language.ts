/** Languages in databases of PostgreSQL. */

import { salt } from '../../_shared/states/call.ts';
import type { StateReturn } from '../../api.ts';
import { type DbOptions, dbArgs } from '../postgres-db.ts';
import { oneStep, postgresVirtual, removal } from '../postgres-state.ts';

/** Languages for functions of a PostgreSQL database. */
export const __virtual__ = postgresVirtual;

/**
 * A database has a language.
 *
 * @param name the language
 * @param maintenance_db the database
 * @example
 * plperl:
 *   postgres_language.present:
 *     - maintenance_db: shop
 */
export const present = async (
  name: string,
  maintenance_db: string,
  options: Omit<DbOptions, 'maintenance_db'> = {},
): Promise<StateReturn> => {
  const { maintenance_db: _, ...where } = dbArgs(options);
  return oneStep(name, {
    due: async () => !(await salt('postgres.language_exists')(name, maintenance_db, where)),
    inDatabase: 'makes',
    done: `Language ${name} is already installed`,
    would: `Language ${name} is set to be installed`,
    work: () => salt('postgres.language_create')(name, maintenance_db, where),
    success: `Language ${name} has been installed`,
    failure: `Failed to install language ${name}`,
    changes: { [name]: 'Present' },
  });
};

/**
 * A database does not have a language.
 *
 * @param name the language
 * @param maintenance_db the database
 * @example
 * plperl:
 *   postgres_language.absent:
 *     - maintenance_db: shop
 */
export const absent = async (
  name: string,
  maintenance_db: string,
  options: Omit<DbOptions, 'maintenance_db'> = {},
): Promise<StateReturn> => {
  const { maintenance_db: _, ...where } = dbArgs(options);
  return removal('Language', name, {
    exists: () => salt('postgres.language_exists')(name, maintenance_db, where),
    remove: () => salt('postgres.language_remove')(name, maintenance_db, where),
  });
};
