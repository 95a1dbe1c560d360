/** Policies of RabbitMQ. */
import { isDeepStrictEqual } from 'node:util';
import { salt } from '../../_shared/states/call.ts';
import { ensure, type Plain, SaltInvocationError, type StateReturn } from '../../api.ts';
import { hasRabbitmq } from '../rabbitmq-run.ts';

export const __virtual__ = hasRabbitmq;

type Policy = { pattern: string; definition: string; priority: number; apply_to: string };

type PresentOptions = {
  priority?: number;
  vhost?: string;
  runas?: string | null;
  apply_to?: string | null;
};

/**
 * A virtual host of RabbitMQ has this policy.
 *
 * @param name the policy
 * @param pattern a regular expression for the queues it is for
 * @param definition its settings: a mapping, or JSON
 * @param priority the highest one wins
 * @param vhost the virtual host
 * @param apply_to `queues`, `exchanges` or `all`
 * @param runas the account to run rabbitmqctl as
 * @example
 * ttl:
 *   rabbitmq_policy.present:
 *     - pattern: '^tmp'
 *     - definition: {message-ttl: 60000}
 */
export const present = async (
  name: string,
  pattern: string,
  definition: Plain,
  { priority = 0, vhost = '/', runas = null, apply_to = null }: PresentOptions = {},
): Promise<StateReturn> =>
  ensure<Policy | undefined>(name, {
    read: async () => {
      const all: { [vhost: string]: { [policy: string]: Policy } } = await salt(
        'rabbitmq.list_policies',
      )(vhost, { runas });
      return all[vhost]?.[name];
    },
    plan: have => {
      const settings = settingsOf(definition);
      const isSame =
        have !== undefined &&
        have.pattern === pattern &&
        isDeepStrictEqual(settingsOf(have.definition), settings) &&
        have.priority === priority &&
        (!apply_to || have.apply_to === apply_to);
      if (isSame) return `Policy '${vhost} ${name}' is already present`;
      const change = have ? 'updated' : 'created';
      return {
        would: `Policy '${vhost} ${name}' is set to be ${change}`,
        done: `Policy '${vhost} ${name}' was ${change}`,
        changes: {
          old: have ?? '',
          new: {
            pattern,
            definition: JSON.stringify(settings),
            priority,
            apply_to: apply_to ?? have?.apply_to ?? 'all',
          },
        },
      };
    },
    apply: have => {
      const options = { priority, apply_to: apply_to ?? have?.apply_to ?? 'all', runas };
      const text = JSON.stringify(settingsOf(definition));
      return salt('rabbitmq.set_policy')(vhost, name, pattern, text, options);
    },
  });

const settingsOf = (definition: Plain): Plain => {
  if (typeof definition !== 'string') return definition;
  try {
    return JSON.parse(definition) as Plain;
  } catch {
    throw new SaltInvocationError(`The definition of a policy is no JSON: ${definition}`);
  }
};

/**
 * A virtual host of RabbitMQ does not have this policy.
 *
 * @param name the policy
 * @param vhost the virtual host
 * @param runas the account to run rabbitmqctl as
 * @example
 * ttl:
 *   rabbitmq_policy.absent
 */
export const absent = async (
  name: string,
  { vhost = '/', runas = null }: { vhost?: string; runas?: string | null } = {},
): Promise<StateReturn> =>
  ensure(name, {
    read: () => salt('rabbitmq.policy_exists')(vhost, name, { runas }),
    plan: isThere =>
      isThere
        ? {
            would: `Policy '${vhost} ${name}' will be removed`,
            done: `Policy '${vhost} ${name}' was removed`,
            changes: { old: name, new: '' },
          }
        : `Policy '${vhost} ${name}' is not present`,
    apply: () => salt('rabbitmq.delete_policy')(vhost, name, { runas }),
  });
