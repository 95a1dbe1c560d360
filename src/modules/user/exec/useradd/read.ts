/**
 * Accounts, by the shadow suite. Goes by the name `user`.
 *
 * @platform linux
 * @depends useradd, usermod, userdel
 */

import { which } from '../../../_shared/commands/which.ts';
import { notDone } from '../../../_shared/states/not-done.ts';
import { findUser, groupsOf, localGroups, localUsers } from '../../user-tools.ts';

export const __virtualname__ = 'user';

export const __virtual__ = (): string | [false, string] =>
  which('useradd')
    ? __virtualname__
    : [false, 'useradd is not there (on Alpine it is in the package "shadow").'];

/** Details of an account. */
type UserInfo = {
  uid: number;
  gid: number;
  groups: string[];
  home: string;
  name: string;
  passwd: string;
  shell: string;
  fullname: string;
  roomnumber: string;
  workphone: string;
  homephone: string;
  other: string;
};

/**
 * Returns details of an account; an empty dict when it does not exist.
 *
 * @param name the account
 * @param root the folder of another system to work on
 * @example tsalt-ssh '*' user.info root
 */
export const info = async (
  name: string,
  root: string | null = null,
): Promise<UserInfo | Record<string, never>> => {
  const account = await findUser(name, root);
  if (!account) return {};
  const [fullname = '', roomnumber = '', workphone = '', homephone = '', ...other] =
    account.gecos.split(',');
  return {
    gid: account.gid,
    groups: await groupsOf(account, root),
    home: account.home,
    name: account.name,
    passwd: account.passwd,
    shell: account.shell,
    uid: account.uid,
    fullname,
    roomnumber,
    workphone,
    homephone,
    other: other.join(','),
  };
};

/**
 * All local accounts.
 *
 * @param refresh has no effect: the file is read each time
 * @param root the folder of another system to work on
 * @example tsalt-ssh '*' user.getent
 */
export const getent = async ({
  refresh: _refresh = false,
  root = null,
}: {
  refresh?: boolean;
  root?: string | null;
} = {}): Promise<(UserInfo | Record<string, never>)[]> => {
  const infos: (UserInfo | Record<string, never>)[] = [];
  for (const { name } of await localUsers(root)) infos.push(await info(name, root));
  return infos;
};

/**
 * The names of all local accounts.
 *
 * @param root the folder of another system to work on
 * @example tsalt-ssh '*' user.list_users
 */
export const list_users = async (root: string | null = null): Promise<string[]> =>
  (await localUsers(root)).map(account => account.name).sort();

/**
 * The groups that an account is in.
 *
 * @param name the account
 * @example tsalt-ssh '*' user.list_groups www-data
 */
export const list_groups = async (name: string): Promise<string[]> => {
  const account = await findUser(name, null);
  return account ? groupsOf(account, null) : [];
};

/**
 * The name of an account's primary group.
 *
 * @param name the account
 * @example tsalt-ssh '*' user.primary_group www-data
 */
export const primary_group = async (name: string): Promise<string> => {
  const account = await findUser(name, null);
  if (!account) return '';
  return (await localGroups(null)).find(group => group.gid === account.gid)?.name ?? '';
};

/** Not done here: login classes are of BSD. */
export const get_loginclass = async (name: string): Promise<never> =>
  notDone('user.get_loginclass', 'login classes are of BSD', name);

/** Not done here: login classes are of BSD. */
export const chloginclass = async (
  name: string,
  loginclass: string,
  root: string | null = null,
): Promise<never> =>
  notDone('user.chloginclass', 'login classes are of BSD', name, loginclass, root);
