/** Schemas in databases of PostgreSQL. */

import { salt } from '../../_shared/states/call.ts';
import type { StateReturn } from '../../api.ts';
import type { SchemaOptions } from '../postgres-db.ts';
import { oneStep, postgresVirtual } from '../postgres-state.ts';

/** Schemas of a PostgreSQL database. */
export const __virtual__ = postgresVirtual;

/**
 * A database has a schema.
 *
 * @param dbname the database
 * @param name the schema
 * @param owner its owner
 * @example
 * sales:
 *   postgres_schema.present:
 *     - dbname: shop
 *     - owner: shop
 */
export const present = async (
  dbname: string,
  name: string,
  { owner = null, ...where }: { owner?: string | null } & SchemaOptions = {},
): Promise<StateReturn> =>
  oneStep(name, {
    due: async () => !(await salt('postgres.schema_exists')(dbname, name, where)),
    inDatabase: 'makes',
    done: `Schema ${name} already exists in database ${dbname}`,
    would: `Schema ${name} is set to be created in database ${dbname}.`,
    work: () => salt('postgres.schema_create')(dbname, name, { owner, ...where }),
    success: `Schema ${name} has been created in database ${dbname}`,
    failure: `Failed to create schema ${name} in database ${dbname}`,
    changes: { [name]: 'Present' },
  });

/**
 * A database does not have a schema.
 *
 * @param dbname the database
 * @param name the schema
 * @example
 * sales:
 *   postgres_schema.absent:
 *     - dbname: shop
 */
export const absent = async (
  dbname: string,
  name: string,
  where: SchemaOptions = {},
): Promise<StateReturn> =>
  oneStep(name, {
    due: () => salt('postgres.schema_exists')(dbname, name, where),
    inDatabase: 'removes',
    done: `Schema ${name} is not present in database ${dbname}, so it cannot be removed`,
    would: `Schema ${name} is set to be removed from database ${dbname}`,
    work: () => salt('postgres.schema_remove')(dbname, name, where),
    success: `Schema ${name} has been removed from database ${dbname}`,
    failure: `Schema ${name} failed to be removed from database ${dbname}`,
    changes: { [name]: 'Absent' },
  });
