/** Clusters of PostgreSQL, as Debian has them. */
import { messageOf } from '../../../protocol/error.ts';
import { hasFunction, salt } from '../../_shared/states/call.ts';
import { failed } from '../../_shared/states/returns.ts';
import type { StateReturn } from '../../api.ts';
import { oneStep } from '../postgres-state.ts';

export const __virtual__ = (): true | [false, string] =>
  hasFunction('postgres.cluster_exists') || [
    false,
    'The execution module postgres is not available on this host.',
  ];

/**
 * A cluster is there. It is not started: that is what `service.running` is for.
 *
 * @param version its version of PostgreSQL
 * @param name its name
 * @param port its port
 * @param encoding the encoding of new databases
 * @param locale the locale of new databases
 * @param datadir its data directory
 * @param allow_group_access true: the owner's group may read its files
 * @param data_checksums true: with checksums of its pages
 * @param wal_segsize megabytes of a segment of its write-ahead log
 * @example
 * shop:
 *   postgres_cluster.present:
 *     - version: 15
 *     - port: 5433
 */
export const present = async (
  version: string | number,
  name: string,
  options: {
    port?: number | string | null;
    encoding?: string | null;
    locale?: string | null;
    datadir?: string | null;
    allow_group_access?: boolean | null;
    data_checksums?: boolean | null;
    wal_segsize?: number | string | null;
  } = {},
): Promise<StateReturn> => {
  const id = `${version}/${name}`;
  try {
    if (await salt('postgres.cluster_exists')(version, name)) {
      const all = await salt('postgres.cluster_list')({ verbose: true });
      const { port, datadir } = options;
      if ((port && Number(port) !== all[id]?.port) || (datadir && datadir !== all[id]?.datadir))
        return failed(name, `Cluster ${id} has wrong parameters which couldn't be changed on fly.`);
    }
  } catch (error) {
    return failed(name, messageOf(error));
  }
  return oneStep(name, {
    due: async () => !(await salt('postgres.cluster_exists')(version, name)),
    done: `Cluster ${id} is already present`,
    would: `Cluster ${id} is set to be created`,
    work: () => salt('postgres.cluster_create')(version, name, options),
    success: `The cluster ${id} has been created`,
    failure: `Failed to create cluster ${id}`,
    changes: { [id]: 'Present' },
  });
};

/**
 * A cluster is not there: its server is stopped, its databases are removed.
 *
 * @param version its version of PostgreSQL
 * @param name its name
 * @example
 * shop:
 *   postgres_cluster.absent:
 *     - version: 15
 */
export const absent = async (version: string | number, name: string): Promise<StateReturn> => {
  const id = `${version}/${name}`;
  return oneStep(name, {
    due: () => salt('postgres.cluster_exists')(version, name),
    done: `Cluster ${id} is not present, so it cannot be removed`,
    would: `Cluster ${id} is set to be removed`,
    work: () => salt('postgres.cluster_remove')(version, name, { stop: true }),
    success: `Cluster ${id} has been removed`,
    failure: `Failed to remove cluster ${id}`,
    changes: { [name]: 'Absent' },
  });
};
