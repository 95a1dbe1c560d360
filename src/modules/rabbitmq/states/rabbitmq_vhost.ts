/** Virtual hosts of RabbitMQ. */

import { salt } from '../../_shared/states/call.ts';
import { failOnError } from '../../_shared/states/fail-on-error.ts';
import { changed, unchanged, would } from '../../_shared/states/returns.ts';
import { __opts__, type StateReturn } from '../../api.ts';
import { rabbitmqHere } from '../rabbitmq-run.ts';

export const __virtual__ = rabbitmqHere;

/**
 * A virtual host of RabbitMQ is there.
 *
 * @param name the virtual host
 * @example
 * shop:
 *   rabbitmq_vhost.present
 */
export const present = async (name: string): Promise<StateReturn> =>
  failOnError(name, async () => {
    if (await salt('rabbitmq.vhost_exists')(name))
      return unchanged(name, `Virtual Host '${name}' already exists.`);
    const changes = { old: '', new: name };
    if (__opts__.test) return would(name, `Virtual Host '${name}' will be created.`, changes);
    await salt('rabbitmq.add_vhost')(name);
    return changed(name, `Virtual Host '${name}' was created.`, changes);
  });

/**
 * A virtual host of RabbitMQ is not there, nor are its queues.
 *
 * @param name the virtual host
 * @example
 * shop:
 *   rabbitmq_vhost.absent
 */
export const absent = async (name: string): Promise<StateReturn> =>
  failOnError(name, async () => {
    if (!(await salt('rabbitmq.vhost_exists')(name)))
      return unchanged(name, `Virtual Host '${name}' is not present.`);
    const changes = { old: name, new: '' };
    if (__opts__.test) return would(name, `Virtual Host '${name}' will be removed.`, changes);
    await salt('rabbitmq.delete_vhost')(name);
    return changed(name, `Virtual Host '${name}' was removed.`, changes);
  });
