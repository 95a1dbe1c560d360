import { expandUser, linkExists } from '../../../_shared/files/file-paths.ts';
import { gidOf, groupName, uidOf, userName } from '../../../_shared/files/owner-names.ts';
import { chownSync, lchownSync } from '../../../_shared/safe-fs/fs.ts';
import { fileStats } from '../../file-stats.ts';

type Who = string | number | null;

/**
 * Returns the owner of a file.
 *
 * @param path the file
 * @param follow_symlinks false: of a symlink itself
 *
 * @example tsalt-ssh '*' file.get_user /etc/passwd
 */
export const get_user = async (
  path: string,
  { follow_symlinks = true }: { follow_symlinks?: boolean } = {},
): Promise<string | number> => fileStats(path, follow_symlinks).user;

/**
 * Returns the group of a file.
 *
 * @param path the file
 * @param follow_symlinks false: of a symlink itself
 *
 * @example tsalt-ssh '*' file.get_group /etc/passwd
 */
export const get_group = async (
  path: string,
  { follow_symlinks = true }: { follow_symlinks?: boolean } = {},
): Promise<string | number> => fileStats(path, follow_symlinks).group;

/**
 * Returns the id of a file's owner.
 *
 * @param path the file
 * @param follow_symlinks false: of a symlink itself
 *
 * @example tsalt-ssh '*' file.get_uid /etc/passwd
 */
export const get_uid = async (
  path: string,
  { follow_symlinks = true }: { follow_symlinks?: boolean } = {},
): Promise<number> => fileStats(path, follow_symlinks).uid;

/**
 * Returns the id of a file's group.
 *
 * @param path the file
 * @param follow_symlinks false: of a symlink itself
 *
 * @example tsalt-ssh '*' file.get_gid /etc/passwd
 */
export const get_gid = async (
  path: string,
  { follow_symlinks = true }: { follow_symlinks?: boolean } = {},
): Promise<number> => fileStats(path, follow_symlinks).gid;

/**
 * Returns the name of a user id; the id itself if no user has it.
 *
 * @param uid the id
 *
 * @example tsalt-ssh '*' file.uid_to_user 0
 */
export const uid_to_user = async (uid: number | string): Promise<string | number> =>
  nameOf(uid, uidOf, userName);

/** Returns the name of an id; also accepts a name. */
const nameOf = (
  who: number | string,
  find: (name: string | number) => number | undefined,
  show: (id: number) => string | number,
): string | number => {
  const id = /^-?\d+$/.test(String(who)) ? Number(who) : find(who);
  return id === undefined ? '' : show(id);
};

/**
 * Returns the id of a user; '' if there is none.
 *
 * @param user the name
 *
 * @example tsalt-ssh '*' file.user_to_uid root
 */
export const user_to_uid = async (user: Who = null): Promise<number | string> =>
  user === null ? (process.geteuid?.() ?? '') : (uidOf(user) ?? '');

/**
 * Returns the name of a group id; the id itself if no group has it.
 *
 * @param gid the id
 *
 * @example tsalt-ssh '*' file.gid_to_group 0
 */
export const gid_to_group = async (gid: number | string): Promise<string | number> =>
  nameOf(gid, gidOf, groupName);

/**
 * Returns the id of a group; '' if there is none.
 *
 * @param group the name
 *
 * @example tsalt-ssh '*' file.group_to_gid root
 */
export const group_to_gid = async (group: Who = null): Promise<number | string> =>
  group === null ? '' : (gidOf(group) ?? '');

/**
 * Sets owner and group of a file; says why when it cannot.
 *
 * @param path the file
 * @param user owner; empty: as it is
 * @param group group; empty: as it is
 *
 * @example tsalt-ssh '*' file.chown /etc/passwd root root
 */
export const chown = async (path: string, user: Who, group: Who): Promise<string | null> =>
  setOwner(path, user, group, chownSync);

/**
 * Sets owner and group of a symlink itself; says why when it cannot.
 *
 * @param path the symlink
 * @param user owner; empty: as it is
 * @param group group; empty: as it is
 *
 * @example tsalt-ssh '*' file.lchown /tmp/link root root
 */
export const lchown = async (path: string, user: Who, group: Who): Promise<string | null> =>
  setOwner(path, user, group, lchownSync);

/**
 * Sets the group of a file; says why when it cannot.
 *
 * @param path the file
 * @param group the group
 *
 * @example tsalt-ssh '*' file.chgrp /etc/passwd root
 */
export const chgrp = async (path: string, group: Who): Promise<string | null> => {
  await get_user(path);
  return setOwner(path, null, group, chownSync);
};

const setOwner = (
  path: string,
  user: Who,
  group: Who,
  apply: (path: string, uid: number, gid: number) => void,
): string | null => {
  const full = expandUser(path);
  const uid = user === null || user === '' ? -1 : uidOf(user);
  const gid = group === null || group === '' ? -1 : gidOf(group);
  const problems = [
    uid === undefined && 'User does not exist\n',
    gid === undefined && 'Group does not exist\n',
    !linkExists(full) && 'File not found',
  ].filter(problem => problem !== false);
  if (problems.length > 0 || uid === undefined || gid === undefined) return problems.join('');
  const now = fileStats(full, apply === chownSync);
  apply(full, uid < 0 ? now.uid : uid, gid < 0 ? now.gid : gid);
  return null;
};
