/** Clusters of RabbitMQ. */

import { salt } from '../../_shared/states/call.ts';
import { failOnError } from '../../_shared/states/fail-on-error.ts';
import { changed, unchanged, would } from '../../_shared/states/returns.ts';
import { __opts__, type StateReturn } from '../../api.ts';
import { hasRabbitmq } from '../rabbitmq-run.ts';

export const __virtual__ = hasRabbitmq;

type JoinedOptions = {
  /** the first part of its node's name */
  user?: string;
  /** true: join as a node that keeps its data in memory only */
  ram_node?: boolean | null;
  /** the account to run rabbitmqctl as */
  runas?: string | null;
};

/**
 * This host is in one cluster with the node `user@host`. Both need the same Erlang cookie; what
 * this host's RabbitMQ had goes when it joins.
 *
 * @param name any name, `user@host` for instance
 * @param host the other host
 * @example
 * rabbit@mq1.example.com:
 *   rabbitmq_cluster.joined:
 *     - host: mq1.example.com
 */
export const joined = async (
  name: string,
  host: string,
  { user = 'rabbit', ram_node = null, runas = null }: JoinedOptions = {},
): Promise<StateReturn> =>
  failOnError(name, async () => {
    const node = `${user}@${host}`;
    const status: string = await salt('rabbitmq.cluster_status')({ runas });
    // Not a part of a longer name.
    if (status.split(/[^\w@.-]+/).includes(node)) return unchanged(name, 'Already in cluster');
    const changes = { old: '', new: node };
    if (__opts__.test) return would(name, `Node is set to join cluster ${node}`, changes);
    const { Join }: { Join: string } = await salt('rabbitmq.join_cluster')(host, user, {
      ram_node,
      runas,
    });
    return changed(name, Join, changes);
  });

/**
 * Alias of `rabbitmq_cluster.joined`.
 *
 * @param name any name, `user@host` for instance
 * @param host the other host
 * @example
 * rabbit@mq1.example.com:
 *   rabbitmq_cluster.join:
 *     - host: mq1.example.com
 */
export const join = async (
  name: string,
  host: string,
  options: JoinedOptions = {},
): Promise<StateReturn> => joined(name, host, options);
