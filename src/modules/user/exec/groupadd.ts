/**
 * Groups, by the shadow suite. Goes by the name `group`.
 *
 * @platform linux
 * @depends groupadd, groupmod, groupdel
 */
import type { GroupEntry } from '../../_shared/commands/accounts.ts';
import { rootFlags } from '../../_shared/commands/other-root.ts';
import { which } from '../../_shared/commands/which.ts';
import { toList } from '../../_shared/states/values.ts';
import { localGroups, tool } from '../user-tools.ts';

export const __virtualname__ = 'group';

export const __virtual__ = (): string | [false, string] =>
  which('groupadd')
    ? __virtualname__
    : [false, 'groupadd is not there (on Alpine it is in the package "shadow").'];

export const __func_alias__ = { delete_: 'delete' };

/** Details of a group. */
type GroupInfo = { name: string; passwd: string; gid: number; members: string[] };

/**
 * Returns details of a group; an empty dict when it does not exist.
 *
 * @param name the group
 * @param root the folder of another system to work on
 * @example tsalt-ssh '*' group.info adm
 */
export const info = async (
  name: string,
  root: string | null = null,
): Promise<GroupInfo | Record<string, never>> => {
  const group = (await localGroups(root)).find(one => one.name === name);
  return group ? toInfo(group) : {};
};

/**
 * All local groups.
 *
 * @param refresh has no effect: the file is read each time
 * @param root the folder of another system to work on
 * @example tsalt-ssh '*' group.getent
 */
export const getent = async (refresh = false, root: string | null = null): Promise<GroupInfo[]> => {
  void refresh;
  return (await localGroups(root)).map(toInfo);
};

const toInfo = ({ name, passwd, gid, members }: GroupEntry): GroupInfo => ({
  name,
  passwd,
  gid,
  members: [...members],
});

/**
 * Makes a group.
 *
 * @param name the group
 * @param gid its number
 * @param system true: a system group
 * @param non_unique true: the number may be taken already
 * @param root the folder of another system to work on
 * @example tsalt-ssh '*' group.add deploy 3456
 */
export const add = async (
  name: string,
  {
    gid = null,
    system = false,
    root = null,
    non_unique = false,
  }: {
    gid?: number | string | null;
    system?: boolean;
    root?: string | null;
    non_unique?: boolean;
  } = {},
): Promise<boolean> =>
  tool([
    'groupadd',
    ...(gid === null || gid === '' ? [] : ['-g', String(gid)]),
    ...(gid !== null && non_unique ? ['-o'] : []),
    ...(system ? ['-r'] : []),
    ...rootFlags(root),
    '--',
    name,
  ]);

/**
 * Removes a group.
 *
 * @param name the group
 * @param root the folder of another system to work on
 * @example tsalt-ssh '*' group.delete deploy
 */
export const delete_ = async (name: string, root: string | null = null): Promise<boolean> =>
  tool(['groupdel', ...rootFlags(root), '--', name]);

/**
 * Changes a group's number.
 *
 * @param name the group
 * @param gid its new number
 * @param non_unique true: the number may be taken already
 * @param root the folder of another system to work on
 * @example tsalt-ssh '*' group.chgid deploy 4376
 */
export const chgid = async (
  name: string,
  gid: number | string,
  { root = null, non_unique = false }: { root?: string | null; non_unique?: boolean } = {},
): Promise<boolean> =>
  tool([
    'groupmod',
    '-g',
    String(gid),
    ...(non_unique ? ['-o'] : []),
    ...rootFlags(root),
    '--',
    name,
  ]);

/**
 * Puts an account into a group.
 *
 * @param name the group
 * @param username the account
 * @param root the folder of another system to work on
 * @example tsalt-ssh '*' group.adduser deploy bar
 */
export const adduser = async (
  name: string,
  username: string,
  root: string | null = null,
): Promise<boolean> => tool(['gpasswd', ...rootFlags(root), '--add', username, name]);

/**
 * Takes an account out of a group.
 *
 * @param name the group
 * @param username the account
 * @param root the folder of another system to work on
 * @example tsalt-ssh '*' group.deluser deploy bar
 */
export const deluser = async (
  name: string,
  username: string,
  root: string | null = null,
): Promise<boolean> => {
  const group = (await localGroups(root)).find(one => one.name === name);
  if (!group?.members.includes(username)) return true;
  return tool(['gpasswd', ...rootFlags(root), '--delete', username, name]);
};

/**
 * Replaces the members of a group.
 *
 * @param name the group
 * @param members_list accounts, a list or a text with commas
 * @param root the folder of another system to work on
 * @example tsalt-ssh '*' group.members deploy 'user1,user2'
 */
export const members = async (
  name: string,
  members_list: string | string[],
  root: string | null = null,
): Promise<boolean> =>
  tool(['gpasswd', ...rootFlags(root), '--members', toList(members_list).join(','), name]);
