/** Privileges of roles of PostgreSQL. */

import { salt } from '../../_shared/states/call.ts';
import { toList } from '../../_shared/states/values.ts';
import type { StateReturn } from '../../api.ts';
import { type DbOptions, dbArgs } from '../postgres-db.ts';
import { oneStep, postgresVirtual } from '../postgres-state.ts';

/** Rights of PostgreSQL roles on objects, and memberships in groups. */
export const __virtual__ = postgresVirtual;

type Rights = {
  privileges?: string[] | string | null;
  /** the schema of a table or sequence */
  prepend?: string;
} & DbOptions;

/**
 * A role has rights on an object, or is a member of a group.
 *
 * @param name the role
 * @param object_name the object; ALL for every table or sequence of a schema; for a function with its arguments
 * @param object_type `table`, `sequence`, `schema`, `tablespace`, `language`, `database`, `function` or `group`
 * @param privileges the rights, as `[SELECT, UPDATE]` or `[ALL]`; none for a group
 * @param grant_option true: it may grant them
 * @example
 * reader:
 *   postgres_privileges.present:
 *     - object_name: orders
 *     - object_type: table
 *     - privileges: [SELECT]
 *     - maintenance_db: shop
 */
export const present = async (
  name: string,
  object_name: string,
  object_type: string,
  {
    privileges = null,
    grant_option = null,
    prepend = 'public',
    ...rest
  }: Rights & { grant_option?: boolean | null } = {},
): Promise<StateReturn> => {
  const type = object_type.toLowerCase();
  const options = { privileges: toList(privileges), grant_option, prepend, ...dbArgs(rest) };
  const what = type === 'group' ? object_name : options.privileges.join(',');
  return oneStep(name, {
    due: async () => !(await salt('postgres.has_privileges')(name, object_name, type, options)),
    inDatabase: 'makes',
    done: 'The requested privilege(s) are already set',
    would: `The privilege(s): ${what} are set to be granted to ${name}`,
    work: () => salt('postgres.privileges_grant')(name, object_name, type, options),
    success: `The privilege(s): ${what} have been granted to ${name}`,
    failure: `Failed to grant privilege(s): ${what} to ${name}`,
    changes: { [name]: 'Present' },
  });
};

/**
 * A role does not have rights on an object, or is not a member of a group.
 *
 * @param name the role
 * @param object_name the object
 * @param object_type `table`, `sequence`, `schema`, `tablespace`, `language`, `database`, `function` or `group`
 * @param privileges the rights; none for a group
 * @example
 * reader:
 *   postgres_privileges.absent:
 *     - object_name: admins
 *     - object_type: group
 */
export const absent = async (
  name: string,
  object_name: string,
  object_type: string,
  { privileges = null, prepend = 'public', ...rest }: Rights = {},
): Promise<StateReturn> => {
  const type = object_type.toLowerCase();
  const options = { privileges: toList(privileges), prepend, ...dbArgs(rest) };
  const what = type === 'group' ? object_name : options.privileges.join(',');
  return oneStep(name, {
    due: () => salt('postgres.has_privileges')(name, object_name, type, options),
    inDatabase: 'removes',
    done: 'The requested privilege(s) are not set so cannot be revoked',
    would: `The privilege(s): ${what} are set to be revoked from ${name}`,
    work: () => salt('postgres.privileges_revoke')(name, object_name, type, options),
    success: `The privilege(s): ${what} have been revoked from ${name}`,
    failure: `Failed to revoke privilege(s): ${what} from ${name}`,
    changes: { [name]: 'Absent' },
  });
};
