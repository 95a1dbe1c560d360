/**
 * RabbitMQ: users, virtual hosts, permissions, policies and plugins, by rabbitmqctl.
 *
 * @depends rabbitmqctl (RabbitMQ 3.7 or newer)
 */
import { randomBytes } from 'node:crypto';
import { toList } from '../../../_shared/states/values.ts';
import { CommandExecutionError, type Plain } from '../../../api.ts';
import { hasRabbitmq, listRabbitmq, type RunAs, runRabbitmq } from '../../rabbitmq-run.ts';

export const __virtual__ = hasRabbitmq;

/**
 * The users with their tags.
 *
 * @example tsalt-ssh '*' rabbitmq.list_users
 */
export const list_users = async (options: RunAs = {}): Promise<{ [user: string]: string[] }> =>
  Object.fromEntries(
    (await listRabbitmq(['list_users'], options)).map(({ user, tags }) => [
      String(user),
      toList(tags),
    ]),
  );

/**
 * Whether a user is there.
 *
 * @param name the user
 * @example tsalt-ssh '*' rabbitmq.user_exists ann
 */
export const user_exists = async (name: string, options: RunAs = {}): Promise<boolean> =>
  Object.hasOwn(await list_users(options), name);

/**
 * Adds a user; without a password, one that cannot log in by password.
 *
 * @param name the user
 * @param password the password; it is not passed in a command line
 * @example tsalt-ssh '*' rabbitmq.add_user ann password
 */
export const add_user = async (
  name: string,
  password: string | null = null,
  options: RunAs = {},
): Promise<{ Added: string }> => {
  const first = password ?? randomBytes(24).toString('hex');
  const Added = await runRabbitmq(['rabbitmqctl', 'add_user', '--', name], options, first);
  if (password === null)
    try {
      await clear_password(name, options);
    } catch (error) {
      await delete_user(name, options);
      throw error;
    }
  return { Added };
};

/**
 * Deletes a user.
 *
 * @param name the user
 * @example tsalt-ssh '*' rabbitmq.delete_user ann
 */
export const delete_user = async (
  name: string,
  options: RunAs = {},
): Promise<{ Deleted: string }> => ({
  Deleted: await runRabbitmq(['rabbitmqctl', 'delete_user', '--', name], options),
});

/**
 * Sets a user's password.
 *
 * @param name the user
 * @param password the password; it is not passed in a command line
 * @example tsalt-ssh '*' rabbitmq.change_password ann password
 */
export const change_password = async (
  name: string,
  password: string,
  options: RunAs = {},
): Promise<{ 'Password Changed': string }> => ({
  'Password Changed': await runRabbitmq(
    ['rabbitmqctl', 'change_password', '--', name],
    options,
    password,
  ),
});

/**
 * Takes a user's password away: no login by password is possible then.
 *
 * @param name the user
 * @example tsalt-ssh '*' rabbitmq.clear_password ann
 */
export const clear_password = async (
  name: string,
  options: RunAs = {},
): Promise<{ 'Password Cleared': string }> => ({
  'Password Cleared': await runRabbitmq(['rabbitmqctl', 'clear_password', '--', name], options),
});

/**
 * Returns whether a user has this password.
 *
 * @param name the user
 * @param password the password; it is not passed in a command line
 * @example tsalt-ssh '*' rabbitmq.check_password ann password
 */
export const check_password = async (
  name: string,
  password: string,
  options: RunAs = {},
): Promise<boolean> => {
  try {
    await runRabbitmq(['rabbitmqctl', 'authenticate_user', '--', name], options, password);
    return true;
  } catch (error) {
    if (
      error instanceof CommandExecutionError &&
      /failed to authenticate|invalid credentials/i.test(error.message)
    )
      return false;
    throw error;
  }
};

/**
 * Sets a user's tags; an empty list takes them away.
 *
 * @param name the user
 * @param tags `administrator`, `monitoring` …
 * @example tsalt-ssh '*' rabbitmq.set_user_tags ann administrator
 */
export const set_user_tags = async (
  name: string,
  tags: Plain,
  options: RunAs = {},
): Promise<{ 'Tag(s) set': string }> => ({
  'Tag(s) set': await runRabbitmq(
    ['rabbitmqctl', 'set_user_tags', '--', name, ...toList(tags)],
    options,
  ),
});

/**
 * Returns the permissions of a user by virtual host: patterns for configure, write and read.
 *
 * @param name the user
 * @example tsalt-ssh '*' rabbitmq.list_user_permissions ann
 */
export const list_user_permissions = async (
  name: string,
  options: RunAs = {},
): Promise<{ [vhost: string]: string[] }> =>
  Object.fromEntries(
    (await listRabbitmq(['list_user_permissions', '--', name], options)).map(
      ({ vhost, configure, write, read }) => [
        String(vhost),
        [String(configure), String(write), String(read)],
      ],
    ),
  );
