/** Policies of RabbitMQ. */
import { isDeepStrictEqual } from 'node:util';
import { salt } from '../../_shared/states/call.ts';
import { failOnError } from '../../_shared/states/fail-on-error.ts';
import { changed, unchanged, would } from '../../_shared/states/returns.ts';
import { __opts__, type Plain, SaltInvocationError, type StateReturn } from '../../api.ts';
import { rabbitmqHere } from '../rabbitmq-run.ts';

export const __virtual__ = rabbitmqHere;

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
  failOnError(name, async () => {
    const settings = settingsOf(definition);
    const all: { [vhost: string]: { [policy: string]: Policy } } = await salt(
      'rabbitmq.list_policies',
    )(vhost, { runas });
    const have = all[vhost]?.[name];
    const isSame =
      have !== undefined &&
      have.pattern === pattern &&
      isDeepStrictEqual(settingsOf(have.definition), settings) &&
      have.priority === priority &&
      (!apply_to || have.apply_to === apply_to);
    if (isSame) return unchanged(name, `Policy '${vhost} ${name}' is already present`);
    const changes = {
      old: have ?? '',
      new: {
        pattern,
        definition: JSON.stringify(settings),
        priority,
        apply_to: apply_to ?? have?.apply_to ?? 'all',
      },
    };
    if (__opts__.test)
      return would(
        name,
        `Policy '${vhost} ${name}' is set to be ${have ? 'updated' : 'created'}`,
        changes,
      );
    const options = { priority, apply_to: changes.new.apply_to, runas };
    await salt('rabbitmq.set_policy')(vhost, name, pattern, changes.new.definition, options);
    return changed(name, `Policy '${vhost} ${name}' was ${have ? 'updated' : 'created'}`, changes);
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
  failOnError(name, async () => {
    if (!(await salt('rabbitmq.policy_exists')(vhost, name, { runas })))
      return unchanged(name, `Policy '${vhost} ${name}' is not present`);
    const changes = { old: name, new: '' };
    if (__opts__.test) return would(name, `Policy '${vhost} ${name}' will be removed`, changes);
    await salt('rabbitmq.delete_policy')(vhost, name, { runas });
    return changed(name, `Policy '${vhost} ${name}' was removed`, changes);
  });
