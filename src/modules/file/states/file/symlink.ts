import { basename, dirname, join, normalize } from 'node:path';
import { messageOf } from '../../../../protocol/error.ts';
import { type AccountName, applyPerms } from '../../../_shared/files/check-perms.ts';
import {
  exists,
  expandUser,
  isAbs,
  isDir,
  isFile,
  isLink,
  linkExists,
  lstatOf,
} from '../../../_shared/files/file-paths.ts';
import {
  gidOf,
  groupName,
  primaryGid,
  uidOf,
  userName,
} from '../../../_shared/files/owner-names.ts';
import { readlinkSync, renameSync } from '../../../_shared/safe-fs/fs.ts';
import { failed, inPlan, newReturn } from '../../../_shared/states/returns.ts';
import { __opts__, __salt__, type PlainDict, type StateReturn } from '../../../api.ts';

type SymlinkOptions = {
  force?: boolean;
  backupname?: string | null;
  makedirs?: boolean;
  user?: AccountName;
  group?: AccountName;
  mode?: string | number | null;
  atomic?: boolean;
  disallow_copy_and_unlink?: boolean;
  inherit_user_and_group?: boolean;
  owner?: AccountName;
};

/**
 * Manages a symlink.
 *
 * @param name the symlink
 * @param target its target
 * @param force remove a file or directory at its place
 * @param backupname move an existing file or directory to this path
 * @param makedirs make missing directories above
 * @param user owner of the symlink; by default, the user of this run
 * @param group group of the symlink; by default, the owner's group
 * @param mode mode of directories that are made
 * @param atomic replace an existing file or symlink atomically
 * @param disallow_copy_and_unlink accepted for compatibility: moving is always a rename
 * @param inherit_user_and_group keep owner and group of an existing symlink
 * @param owner alias of `user`
 * @unknown ignored
 *
 * @example
 * /etc/nginx/sites-enabled/app:
 *   file.symlink:
 *     - target: /etc/nginx/sites-available/app
 */
export const symlink = async (
  name: string,
  target: string,
  {
    force = false,
    backupname = null,
    makedirs = false,
    user = null,
    group = null,
    mode = null,
    atomic = false,
    disallow_copy_and_unlink: _never = false,
    inherit_user_and_group = false,
    owner = null,
  }: SymlinkOptions = {},
): Promise<StateReturn> => {
  const path = expandUser(name);
  const ret = newReturn(path);
  if (!path) return failed(ret, 'Must provide name to file.symlink');
  const who = ownerOf(path, user ?? owner, group, inherit_user_and_group);
  const problems = [
    uidOf(who.user) === undefined && `User ${who.user} does not exist`,
    gidOf(who.group) === undefined && `Group ${who.group} does not exist`,
    !isAbs(path) && `Specified file ${path} is not an absolute path`,
  ].filter(problem => problem !== false);
  if (problems.length > 0)
    return failed(ret, problems.join('. ') + (problems.length > 1 ? '.' : ''));

  const parent = dirname(path);
  if (__opts__.test) {
    const planned = plan(path, target, force, who);
    const note = isDir(parent)
      ? ''
      : makedirs
        ? `\n${parent} will be created`
        : `\nDirectory ${parent} for symlink is not present`;
    return { ...ret, ...planned, comment: planned.comment + note };
  }
  if (!isDir(parent)) {
    if (!makedirs) return failed(ret, `Directory ${parent} for symlink is not present`);
    await __salt__['file.makedirs']?.(path, { ...who, mode });
  }
  if (isLink(path) && normalize(readlinkSync(path)) === normalize(target))
    return ensureOwner(ret, path, who);
  if (!isLink(path) && exists(path)) {
    const problem = await clearPlace(path, target, { force, atomic, backupname });
    if (problem) return failed(ret, problem);
  }
  try {
    await __salt__['file.symlink']?.(target, path, { force, atomic });
  } catch (error) {
    return failed(ret, `Unable to create new symlink ${path} -> ${target}: ${messageOf(error)}`);
  }
  ret.changes.new = path;
  const comment = `Created new symlink ${path} -> ${target}`;
  applyPerms(path, who);
  return isOwnedBy(path, who)
    ? { ...ret, comment }
    : failed(ret, `${comment}, but was unable to set ownership to ${who.user}:${who.group}`);
};

type Who = { user: string | number; group: string | number };

const ownerOf = (path: string, user: AccountName, group: AccountName, inherit: boolean): Who => {
  const link = inherit ? lstatOf(path) : undefined;
  const current = link?.isSymbolicLink() ? link : undefined;
  const owner = user ?? (current ? userName(current.uid) : userName(process.geteuid?.() ?? 0));
  const ownGid = typeof owner === 'string' ? primaryGid(owner) : undefined;
  return {
    user: owner,
    group: group ?? groupName(current?.gid ?? ownGid ?? process.getegid?.() ?? 0),
  };
};

const isOwnedBy = (path: string, { user, group }: Who): boolean => {
  const found = lstatOf(path);
  return found?.uid === uidOf(user) && found?.gid === gidOf(group);
};

const plan = (
  path: string,
  target: string,
  force: boolean,
  who: Who,
): { result: boolean | null; comment: string; changes: PlainDict } => {
  if (!linkExists(path))
    return {
      result: null,
      comment: `Symlink ${path} to ${target} is set for creation`,
      changes: { new: path },
    };
  if (!isLink(path))
    return force
      ? {
          result: null,
          comment: `The file or directory ${path} is set for removal to make way for a new symlink targeting ${target}`,
          changes: inPlan({ new: path }),
        }
      : {
          result: false,
          comment: `File or directory exists where the symlink ${path} should be. Did you mean to use force?`,
          changes: {},
        };
  if (normalize(readlinkSync(path)) !== normalize(target))
    return {
      result: null,
      comment: `Link ${path} target is set to be changed to ${target}`,
      changes: { change: path },
    };
  const present = `The symlink ${path} is present`;
  if (isOwnedBy(path, who)) return { result: true, comment: present, changes: {} };
  const found = lstatOf(path);
  const current = `${userName(found?.uid ?? 0)}:${groupName(found?.gid ?? 0)}`;
  return {
    result: null,
    comment: `${present}, but the ownership of the symlink would be changed from ${current} to ${who.user}:${who.group}`,
    changes: { ownership: current },
  };
};

const ensureOwner = (ret: StateReturn, path: string, who: Who): StateReturn => {
  const owner = `${who.user}:${who.group}`;
  if (isOwnedBy(path, who))
    return { ...ret, comment: `Symlink ${path} is present and owned by ${owner}` };
  applyPerms(path, who);
  if (!isOwnedBy(path, who))
    return failed(ret, `Failed to set ownership of symlink ${path} to ${owner}`);
  return {
    ...ret,
    changes: { ownership: owner },
    comment: `Set ownership of symlink ${path} to ${owner}`,
  };
};

const clearPlace = async (
  path: string,
  target: string,
  options: { force: boolean; atomic: boolean; backupname: string | null },
): Promise<string | undefined> => {
  const { force, atomic, backupname } = options;
  if (backupname === null) {
    if (force || atomic) return undefined;
    const what = isFile(path) ? 'File' : isDir(path) ? 'Directory' : 'File system entry';
    return `${what} exists where the symlink ${path} should be`;
  }
  if (!isAbs(backupname) && backupname !== basename(backupname))
    return `Backupname must be an absolute path or a file name: ${backupname}`;
  const backup = isAbs(backupname) ? backupname : join(dirname(path), backupname);
  if (linkExists(backup)) {
    if (!force)
      return `Symlink & backup dest exists and Force not set. ${path} -> ${target} - backup: ${backup}`;
    await __salt__['file.remove']?.(backup);
  }
  try {
    renameSync(path, backup);
  } catch (error) {
    return `Unable to rename ${path} to backup ${backup} -> : ${messageOf(error)}`;
  }
  return undefined;
};
