import { type Plain, SaltInvocationError } from '../../../api.ts';
import { listRabbitmq, type RunAs, runRabbitmq } from '../../rabbitmq-run.ts';

export type Policy = { pattern: string; definition: string; priority: number; apply_to: string };

/**
 * The policies of a virtual host: `{VHOST: {NAME: {pattern, definition, priority, apply_to}}}`.
 *
 * @param vhost the virtual host
 * @example tsalt-ssh '*' rabbitmq.list_policies
 */
export const list_policies = async (
  vhost = '/',
  options: RunAs = {},
): Promise<{ [vhost: string]: { [name: string]: Policy } }> => {
  const all: { [vhost: string]: { [name: string]: Policy } } = {};
  for (const row of await listRabbitmq(['list_policies', `--vhost=${vhost}`], options)) {
    const place = String(row.vhost);
    const { definition } = row;
    all[place] = {
      ...all[place],
      [String(row.name)]: {
        pattern: String(row.pattern),
        definition: typeof definition === 'string' ? definition : JSON.stringify(definition),
        priority: Number(row.priority),
        apply_to: String(row['apply-to']),
      },
    };
  }
  return all;
};

/**
 * Whether a virtual host has a policy.
 *
 * @param vhost the virtual host
 * @param name the policy
 * @example tsalt-ssh '*' rabbitmq.policy_exists / ttl
 */
export const policy_exists = async (
  vhost: string,
  name: string,
  options: RunAs = {},
): Promise<boolean> => Object.hasOwn((await list_policies(vhost, options))[vhost] ?? {}, name);

/**
 * Sets a policy.
 *
 * @param vhost the virtual host
 * @param name the policy
 * @param pattern a regular expression for the queues it is for
 * @param definition its settings: a mapping, or JSON
 * @param priority the highest one wins
 * @param apply_to `queues`, `exchanges` or `all`
 * @example tsalt-ssh '*' rabbitmq.set_policy / ttl '^tmp' '{"message-ttl": 60000}'
 */
export const set_policy = async (
  vhost: string,
  name: string,
  pattern: string,
  definition: Plain,
  {
    priority = null,
    runas = null,
    apply_to = null,
  }: RunAs & { priority?: number | string | null; apply_to?: string | null } = {},
): Promise<{ Set: string }> => {
  const text =
    typeof definition === 'object' && definition !== null ? JSON.stringify(definition) : definition;
  if (typeof text !== 'string')
    throw new SaltInvocationError("The 'definition' argument must be a dictionary or JSON string");
  return {
    Set: await runRabbitmq(
      [
        ...(['rabbitmqctl', 'set_policy', `--vhost=${vhost}`] as const),
        ...(priority === null || priority === '' ? [] : [`--priority=${priority}`]),
        ...(apply_to ? [`--apply-to=${apply_to}`] : []),
        ...['--', name, pattern, text],
      ],
      { runas },
    ),
  };
};

/**
 * Deletes a policy.
 *
 * @param vhost the virtual host
 * @param name the policy
 * @example tsalt-ssh '*' rabbitmq.delete_policy / ttl
 */
export const delete_policy = async (
  vhost: string,
  name: string,
  options: RunAs = {},
): Promise<{ Deleted: string }> => ({
  Deleted: await runRabbitmq(
    ['rabbitmqctl', 'clear_policy', `--vhost=${vhost}`, '--', name],
    options,
  ),
});
