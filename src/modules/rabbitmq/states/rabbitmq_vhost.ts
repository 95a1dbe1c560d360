/** Virtual hosts of RabbitMQ. */

import { salt } from '../../_shared/states/call.ts';
import { ensure, type StateReturn } from '../../api.ts';
import { hasRabbitmq } from '../rabbitmq-run.ts';

export const __virtual__ = hasRabbitmq;

/**
 * A virtual host of RabbitMQ is there.
 *
 * @param name the virtual host
 * @example
 * shop:
 *   rabbitmq_vhost.present
 */
export const present = async (name: string): Promise<StateReturn> =>
  ensure(name, {
    read: () => salt('rabbitmq.vhost_exists')(name),
    plan: isThere =>
      isThere
        ? `Virtual Host '${name}' already exists.`
        : {
            would: `Virtual Host '${name}' will be created.`,
            done: `Virtual Host '${name}' was created.`,
            changes: { old: '', new: name },
          },
    apply: () => salt('rabbitmq.add_vhost')(name),
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
  ensure(name, {
    read: () => salt('rabbitmq.vhost_exists')(name),
    plan: isThere =>
      isThere
        ? {
            would: `Virtual Host '${name}' will be removed.`,
            done: `Virtual Host '${name}' was removed.`,
            changes: { old: name, new: '' },
          }
        : `Virtual Host '${name}' is not present.`,
    apply: () => salt('rabbitmq.delete_vhost')(name),
  });
