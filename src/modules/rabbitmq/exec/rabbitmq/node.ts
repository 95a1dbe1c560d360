import { plainStr } from '../../../_shared/text/python-text.ts';
import { listRabbitmq, type RunAs, runRabbitmq } from '../../rabbitmq-run.ts';

const ctl = async (words: readonly string[], options: RunAs): Promise<string> =>
  runRabbitmq(['rabbitmqctl', ...words], options);

/**
 * Returns the output of `rabbitmqctl status`.
 *
 * @example tsalt-ssh '*' rabbitmq.status
 */
export const status = async (options: RunAs = {}): Promise<string> => ctl(['status'], options);

/**
 * Returns the output of `rabbitmqctl cluster_status`.
 *
 * @example tsalt-ssh '*' rabbitmq.cluster_status
 */
export const cluster_status = async (options: RunAs = {}): Promise<string> =>
  ctl(['cluster_status'], options);

/**
 * Stops RabbitMQ; the Erlang node goes on.
 *
 * @example tsalt-ssh '*' rabbitmq.stop_app
 */
export const stop_app = async (options: RunAs = {}): Promise<string> => ctl(['stop_app'], options);

/**
 * Starts RabbitMQ in its Erlang node.
 *
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
 * Takes RabbitMQ, which must be stopped, back to what it was when new: out of its cluster, without accounts, virtual
 * hosts, policies and messages.
 *
 * @example tsalt-ssh '*' rabbitmq.reset
 */
export const reset = async (options: RunAs = {}): Promise<string> => ctl(['reset'], options);

/**
 * As `rabbitmq.reset`, also when the other nodes of its cluster cannot be asked.
 *
 * @example tsalt-ssh '*' rabbitmq.force_reset
 */
export const force_reset = async (options: RunAs = {}): Promise<string> =>
  ctl(['force_reset'], options);

/**
 * Lists the queues of the virtual host `/`: the columns of each, by the first column.
 *
 * @param runas the account to run rabbitmqctl as
 * @param columns the columns: `name`, `messages`, `consumers` …; name and messages when left out
 * @example tsalt-ssh '*' rabbitmq.list_queues null name consumers
 */
export const list_queues = async (
  runas: string | null = null,
  ...columns: string[]
): Promise<{ [queue: string]: string[] }> => list_queues_vhost('/', runas, ...columns);

/**
 * Lists the queues of a virtual host: the columns of each, by the first column.
 *
 * @param vhost the virtual host
 * @param runas the account to run rabbitmqctl as
 * @param columns the columns: `name`, `messages`, `consumers` …; name and messages when left out
 * @example tsalt-ssh '*' rabbitmq.list_queues_vhost shop null name consumers
 */
export const list_queues_vhost = async (
  vhost: string,
  runas: string | null = null,
  ...columns: string[]
): Promise<{ [queue: string]: string[] }> => {
  const asked = columns.length > 0 ? columns : ['name', 'messages'];
  const words = ['list_queues', `--vhost=${vhost}`, '--', ...asked];
  return Object.fromEntries(
    (await listRabbitmq(words, { runas })).map(row => {
      const [first = '', ...others] = asked.map(column => plainStr(row[column] ?? ''));
      return [first, others];
    }),
  );
};

const plugins = async (more: readonly string[], options: RunAs): Promise<string[]> =>
  (await runRabbitmq(['rabbitmq-plugins', '--quiet', 'list', '--minimal', ...more], options))
    .split('\n')
    .map(line => line.trim())
    .filter(line => line !== '');

/**
 * The plugins that are there.
 *
 * @param runas the account to run rabbitmq-plugins as
 * @example tsalt-ssh '*' rabbitmq.list_available_plugins
 */
export const list_available_plugins = async (options: RunAs = {}): Promise<string[]> =>
  plugins([], options);

/**
 * The plugins that are enabled, for their own sake or for another one's.
 *
 * @param runas the account to run rabbitmq-plugins as
 * @example tsalt-ssh '*' rabbitmq.list_enabled_plugins
 */
export const list_enabled_plugins = async (options: RunAs = {}): Promise<string[]> =>
  plugins(['--enabled'], options);

/**
 * Whether a plugin is enabled, for its own sake or for another one's.
 *
 * @param name the plugin
 * @param runas the account to run rabbitmq-plugins as
 * @example tsalt-ssh '*' rabbitmq.plugin_is_enabled rabbitmq_management
 */
export const plugin_is_enabled = async (name: string, options: RunAs = {}): Promise<boolean> =>
  (await list_enabled_plugins(options)).includes(name);

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
