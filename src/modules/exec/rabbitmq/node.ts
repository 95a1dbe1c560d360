import { type RunAs, runRabbitmq } from '../../lib/rabbitmq-run.ts';

const ctl = async (words: readonly string[], options: RunAs): Promise<string> =>
  runRabbitmq(['rabbitmqctl', ...words], options);

/**
 * What `rabbitmqctl status` prints.
 *
 * @param runas the account to run rabbitmqctl as
 * @example tsalt-ssh '*' rabbitmq.status
 */
export const status = async (options: RunAs = {}): Promise<string> => ctl(['status'], options);

/**
 * What `rabbitmqctl cluster_status` prints.
 *
 * @param runas the account to run rabbitmqctl as
 * @example tsalt-ssh '*' rabbitmq.cluster_status
 */
export const cluster_status = async (options: RunAs = {}): Promise<string> =>
  ctl(['cluster_status'], options);

/**
 * Stops RabbitMQ; the Erlang node goes on.
 *
 * @param runas the account to run rabbitmqctl as
 * @example tsalt-ssh '*' rabbitmq.stop_app
 */
export const stop_app = async (options: RunAs = {}): Promise<string> => ctl(['stop_app'], options);

/**
 * Starts RabbitMQ in its Erlang node.
 *
 * @param runas the account to run rabbitmqctl as
 * @example tsalt-ssh '*' rabbitmq.start_app
 */
export const start_app = async (options: RunAs = {}): Promise<string> =>
  ctl(['start_app'], options);

/**
 * Makes this host a node of another one's cluster.
 *
 * @param host the other host
 * @param user the first part of its node's name
 * @param ram_node true: a node that keeps its data in memory only
 * @param runas the account to run rabbitmqctl as
 * @example tsalt-ssh '*' rabbitmq.join_cluster mq1
 */
export const join_cluster = async (
  host: string,
  user = 'rabbit',
  { ram_node = false, ...options }: RunAs & { ram_node?: boolean | null } = {},
): Promise<{ Join: string }> => {
  await stop_app(options);
  try {
    const words = ['join_cluster', ...(ram_node ? ['--ram'] : []), '--', `${user}@${host}`];
    return { Join: await ctl(words, options) };
  } finally {
    await start_app(options);
  }
};

/**
 * The queues of a virtual host, as rabbitmqctl prints them.
 *
 * @param vhost the virtual host
 * @param columns what is printed: `name`, `messages`, `consumers` …
 * @param runas the account to run rabbitmqctl as
 * @example tsalt-ssh '*' rabbitmq.list_queues_vhost shop '[name, messages]'
 */
export const list_queues_vhost = async (
  vhost: string,
  { columns = [], ...options }: RunAs & { columns?: string[] } = {},
): Promise<string> =>
  ctl(['--quiet', 'list_queues', `--vhost=${vhost}`, '--', ...columns], options);

/**
 * The plugins that are there; those that are enabled with `enabled`.
 *
 * @param enabled true: only those
 * @param runas the account to run rabbitmq-plugins as
 * @example tsalt-ssh '*' rabbitmq.list_available_plugins
 */
export const list_available_plugins = async ({
  enabled = false,
  ...options
}: RunAs & { enabled?: boolean } = {}): Promise<string[]> =>
  (
    await runRabbitmq(
      ['rabbitmq-plugins', '--quiet', 'list', '--minimal', ...(enabled ? ['--enabled'] : [])],
      options,
    )
  )
    .split('\n')
    .map(line => line.trim())
    .filter(line => line !== '');

/**
 * Whether a plugin is enabled, for its own sake or for another one's.
 *
 * @param name the plugin
 * @param runas the account to run rabbitmq-plugins as
 * @example tsalt-ssh '*' rabbitmq.plugin_is_enabled rabbitmq_management
 */
export const plugin_is_enabled = async (name: string, options: RunAs = {}): Promise<boolean> =>
  (await list_available_plugins({ ...options, enabled: true })).includes(name);

/**
 * Enables a plugin.
 *
 * @param name the plugin
 * @param runas the account to run rabbitmq-plugins as
 * @example tsalt-ssh '*' rabbitmq.enable_plugin rabbitmq_management
 */
export const enable_plugin = async (
  name: string,
  options: RunAs = {},
): Promise<{ Enabled: string }> => ({
  Enabled: await runRabbitmq(['rabbitmq-plugins', 'enable', '--', name], options),
});

/**
 * Disables a plugin.
 *
 * @param name the plugin
 * @param runas the account to run rabbitmq-plugins as
 * @example tsalt-ssh '*' rabbitmq.disable_plugin rabbitmq_management
 */
export const disable_plugin = async (
  name: string,
  options: RunAs = {},
): Promise<{ Disabled: string }> => ({
  Disabled: await runRabbitmq(['rabbitmq-plugins', 'disable', '--', name], options),
});
