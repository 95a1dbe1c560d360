/** Data directories of PostgreSQL. */

import { salt } from '../../_shared/states/call.ts';
import type { StateReturn } from '../../api.ts';
import { oneStep, postgresVirtual } from '../postgres-state.ts';

/** Data directories of PostgreSQL. */
export const __virtual__ = postgresVirtual;

/**
 * A folder is a data directory; one that is there stays as it is.
 *
 * @param name the folder
 * @param user the superuser of its databases
 * @param password the superuser's password
 * @param auth how local connections log in
 * @param encoding the encoding of new databases
 * @param locale the locale of new databases
 * @param runas the account it belongs to
 * @param waldir the folder for its write-ahead log
 * @param checksums true: with checksums of its pages
 * @example
 * /var/lib/pgsql/data:
 *   postgres_initdb.present:
 *     - auth: scram-sha-256
 *     - password: s3cret
 */
export const present = async (
  name: string,
  options: {
    user?: string | null;
    password?: string | null;
    auth?: string;
    encoding?: string;
    locale?: string | null;
    runas?: string | null;
    waldir?: string | null;
    checksums?: boolean;
  } = {},
): Promise<StateReturn> =>
  oneStep(name, {
    due: async () => !(await salt('postgres.datadir_exists')(name)),
    done: `Postgres data directory ${name} is already present`,
    would: `Postgres data directory ${name} is set to be initialized`,
    work: () => salt('postgres.datadir_init')(name, options),
    success: `Postgres data directory ${name} has been initialized`,
    failure: `Postgres data directory ${name} initialization failed`,
    changes: { [name]: 'Present' },
  });
