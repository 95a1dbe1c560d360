/** Upstreams of RabbitMQ's federation. */
import { isDeepStrictEqual } from 'node:util';
import { salt } from '../../_shared/states/call.ts';
import { failOnError } from '../../_shared/states/fail-on-error.ts';
import { changed, unchanged, would } from '../../_shared/states/returns.ts';
import { __opts__, type PlainDict, type StateReturn } from '../../api.ts';
import { hasRabbitmq } from '../rabbitmq-run.ts';
import { type UpstreamOptions, upstreamSettings, withoutPasswords } from '../rabbitmq-upstream.ts';

export const __virtual__ = hasRabbitmq;

type RunAs = {
  /** the account to run rabbitmqctl as */
  runas?: string | null;
};

/**
 * RabbitMQ has this upstream for federation, in the virtual host `/`. The plugin
 * `rabbitmq_federation` must be enabled.
 *
 * @param name the upstream
 * @param uri `amqp://user:password@host`, several as a list, or with blanks between them
 * @example
 * mq1:
 *   rabbitmq_upstream.present:
 *     - uri: amqp://mq1.example.com
 *     - ack_mode: on-confirm
 *     - max_hops: 1
 */
export const present = async (
  name: string,
  uri: string | string[],
  { runas = null, ...options }: RunAs & UpstreamOptions = {},
): Promise<StateReturn> =>
  failOnError(name, async () => {
    const all: { [name: string]: string } = await salt('rabbitmq.list_upstreams')({ runas });
    const wanted = upstreamSettings(uri, options);
    const have = Object.hasOwn(all, name)
      ? (JSON.parse(all[name] ?? '{}') as PlainDict)
      : undefined;
    if (isDeepStrictEqual(have, wanted))
      return unchanged(name, `Upstream "${name}" already present as specified.`);
    const changes = have ? differences(have, wanted) : { old: null, new: withoutPasswords(wanted) };
    const action = have ? 'updated' : 'created';
    if (__opts__.test) return would(name, `Upstream "${name}" would have been ${action}.`, changes);
    await salt('rabbitmq.set_upstream')(name, uri, { ...options, runas });
    return changed(name, `Upstream "${name}" ${action}.`, changes);
  });

const differences = (have: PlainDict, wanted: PlainDict): PlainDict => {
  const only = (those: PlainDict, others: PlainDict): PlainDict =>
    withoutPasswords(
      Object.fromEntries(
        Object.entries(those).filter(([key, value]) => !isDeepStrictEqual(value, others[key])),
      ),
    );
  const both = { old: only(have, wanted), new: only(wanted, have) };
  return Object.fromEntries(
    Object.entries(both).filter(([, some]) => Object.keys(some).length > 0),
  );
};

/**
 * RabbitMQ does not have this upstream.
 *
 * @param name the upstream
 * @example
 * mq1:
 *   rabbitmq_upstream.absent
 */
export const absent = async (name: string, { runas = null }: RunAs = {}): Promise<StateReturn> =>
  failOnError(name, async () => {
    if (!(await salt('rabbitmq.upstream_exists')(name, { runas })))
      return unchanged(name, `The upstream "${name}" is already absent.`);
    const changes = { old: name, new: null };
    if (__opts__.test) return would(name, `Upstream "${name}" would have been deleted.`, changes);
    await salt('rabbitmq.delete_upstream')(name, { runas });
    return changed(name, `Upstream "${name}" has been deleted.`, changes);
  });
