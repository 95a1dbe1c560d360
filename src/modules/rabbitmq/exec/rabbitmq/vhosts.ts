import { listRabbitmq, type RunAs, runRabbitmq } from '../../rabbitmq-run.ts';

/**
 * The virtual hosts.
 *
 * @example tsalt-ssh '*' rabbitmq.list_vhosts
 */
export const list_vhosts = async (options: RunAs = {}): Promise<string[]> =>
  (await listRabbitmq(['list_vhosts'], options)).map(({ name }) => String(name));

/**
 * Whether a virtual host is there.
 *
 * @param name the virtual host
 * @example tsalt-ssh '*' rabbitmq.vhost_exists shop
 */
export const vhost_exists = async (name: string, options: RunAs = {}): Promise<boolean> =>
  (await list_vhosts(options)).includes(name);

/**
 * Adds a virtual host.
 *
 * @param vhost the virtual host
 * @example tsalt-ssh '*' rabbitmq.add_vhost shop
 */
export const add_vhost = async (
  vhost: string,
  options: RunAs = {},
): Promise<{ Added: string }> => ({
  Added: await runRabbitmq(['rabbitmqctl', 'add_vhost', '--', vhost], options),
});

/**
 * Deletes a virtual host with all its queues.
 *
 * @param vhost the virtual host
 * @example tsalt-ssh '*' rabbitmq.delete_vhost shop
 */
export const delete_vhost = async (
  vhost: string,
  options: RunAs = {},
): Promise<{ Deleted: string }> => ({
  Deleted: await runRabbitmq(['rabbitmqctl', 'delete_vhost', '--', vhost], options),
});

/**
 * Sets the permissions of a user in a virtual host.
 *
 * @param vhost the virtual host
 * @param user the user
 * @param conf pattern of the names it may configure
 * @param write pattern of the names it may write to
 * @param read pattern of the names it may read from
 * @example tsalt-ssh '*' rabbitmq.set_permissions / ann '.*' '.*' '.*'
 */
export const set_permissions = async (
  vhost: string,
  user: string,
  conf = '.*',
  write = '.*',
  read = '.*',
  options: RunAs = {},
): Promise<{ 'Permissions Set': string }> => ({
  'Permissions Set': await runRabbitmq(
    ['rabbitmqctl', 'set_permissions', `--vhost=${vhost}`, '--', user, conf, write, read],
    options,
  ),
});

/**
 * Returns the permissions of users in a virtual host: patterns for configure, write and read.
 *
 * @param vhost the virtual host
 * @example tsalt-ssh '*' rabbitmq.list_permissions /
 */
export const list_permissions = async (
  vhost: string,
  options: RunAs = {},
): Promise<{ [user: string]: string[] }> =>
  Object.fromEntries(
    (await listRabbitmq(['list_permissions', `--vhost=${vhost}`], options)).map(
      ({ user, configure, write, read }) => [
        String(user),
        [String(configure), String(write), String(read)],
      ],
    ),
  );
