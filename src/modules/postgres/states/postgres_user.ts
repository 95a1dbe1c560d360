/** Login roles of PostgreSQL. */

import { salt } from '../../_shared/states/call.ts';
import type { StateReturn } from '../../api.ts';
import { type DbOptions, dbArgs } from '../postgres-db.ts';
import type { Encryption } from '../postgres-password.ts';
import { ensureRole } from '../postgres-role.ts';
import { postgresVirtual, removal } from '../postgres-state.ts';

/** Roles of PostgreSQL that log in. */
export const __virtual__ = postgresVirtual;

/**
 * A role is there, with these rights and this password. What is not given stays.
 *
 * @param name the role
 * @param createdb it may make databases
 * @param createroles it may make roles
 * @param encrypted how the password is kept: `md5` (true), `scram-sha-256`, or as it is (false)
 * @param superuser it may do anything
 * @param inherit it has the rights of its groups
 * @param login it may log in
 * @param replication it may stream
 * @param password its password, plain or hashed
 * @param default_password its password when it is made, without `password`
 * @param refresh_password true: set the password without looking at the one it has
 * @param valid_until until when the password counts
 * @param groups roles it is a member of: a list, or texts with commas
 * @example
 * shop:
 *   postgres_user.present:
 *     - password: secret
 *     - createdb: true
 */
export const present = async (
  name: string,
  options: {
    createdb?: boolean | null;
    createroles?: boolean | null;
    encrypted?: Encryption | null;
    superuser?: boolean | null;
    replication?: boolean | null;
    inherit?: boolean | null;
    login?: boolean | null;
    password?: string | null;
    default_password?: string | null;
    refresh_password?: boolean | null;
    valid_until?: string | null;
    groups?: string | string[] | null;
  } & DbOptions = {},
): Promise<StateReturn> => ensureRole('user', name, options);

/**
 * A role is not there.
 *
 * @param name the role
 * @example
 * shop:
 *   postgres_user.absent
 */
export const absent = async (name: string, options: DbOptions = {}): Promise<StateReturn> => {
  const where = dbArgs(options);
  return removal('User', name, {
    exists: () => salt('postgres.user_exists')(name, where),
    remove: () => salt('postgres.user_remove')(name, where),
  });
};
