import { dirname } from 'node:path';
import { messageOf } from '../../../../protocol/error.ts';
import type { AccountName } from '../../../_shared/files/check-perms.ts';
import { missingAccounts } from '../../../_shared/files/file-checks.ts';
import {
  exists,
  expandUser,
  isAbs,
  isDir,
  isFile,
  lstatOf,
} from '../../../_shared/files/file-paths.ts';
import { statSync } from '../../../_shared/safe-fs/fs.ts';
import { failed, inPlan, newReturn } from '../../../_shared/states/returns.ts';
import { __opts__, __salt__, type StateReturn } from '../../../api.ts';

type HardlinkOptions = {
  force?: boolean;
  makedirs?: boolean;
  user?: AccountName;
  group?: AccountName;
  dir_mode?: string | number | null;
};

/**
 * Manages a hard link: one more name for a file.
 *
 * @param name the new name
 * @param target the file
 * @param force replace another file at this place
 * @param makedirs make missing directories above
 * @param user owner of directories that are made
 * @param group group of directories that are made
 * @param dir_mode mode of directories that are made
 * @unknown ignored
 *
 * @example
 * /srv/b:
 *   file.hardlink:
 *     - target: /srv/a
 */
export const hardlink = async (
  name: string,
  target: string,
  {
    force = false,
    makedirs = false,
    user = null,
    group = null,
    dir_mode = null,
  }: HardlinkOptions = {},
): Promise<StateReturn> => {
  const path = expandUser(name);
  const ret = newReturn(path);
  if (!path) return failed(ret, 'Must provide name to file.hardlink');
  const problems = [
    missingAccounts(user, group).trim(),
    !isAbs(path) && `Specified file ${path} is not an absolute path`,
    !isAbs(target) && `Specified target ${target} is not an absolute path`,
  ].filter(Boolean);
  if (problems.length > 0)
    return failed(ret, problems.join('. ') + (problems.length > 1 ? '.' : ''));
  if (isDir(path)) return failed(ret, `Unable to hard link to directory ${path}`);
  if (isDir(target)) return failed(ret, `Unable to hard link from directory ${target}`);
  if (!exists(target)) return failed(ret, `Target ${target} for hard link does not exist`);
  if (isSameFile(path, target))
    return {
      ...ret,
      comment: __opts__.test
        ? `The hard link ${path} is presently targetting ${target}`
        : `Target of hard link ${path} is already pointing to ${target}`,
    };
  const inTheWay = isFile(path);
  const hasOtherNames = (lstatOf(path)?.nlink ?? 0) > 1;
  if (__opts__.test) return { ...ret, ...plan(path, target, { inTheWay, hasOtherNames, force }) };
  if (!isDir(dirname(path))) {
    if (!makedirs) return failed(ret, `Directory ${dirname(path)} for hard link is not present`);
    await __salt__['file.makedirs']?.(path, { user, group, mode: dir_mode });
  }
  if (inTheWay && !hasOtherNames) {
    if (!force) return failed(ret, `File exists where the hard link ${path} should be`);
    ret.changes.forced = 'File for hard link was forcibly replaced';
  }
  try {
    if (inTheWay) await __salt__['file.remove']?.(path);
    await __salt__['file.link']?.(target, path);
  } catch (error) {
    return failed(ret, `Unable to create new hard link ${path} -> ${target}: ${messageOf(error)}`);
  }
  ret.changes.new = path;
  const done = inTheWay && hasOtherNames ? 'Set target of' : 'Created new';
  return { ...ret, comment: `${done} hard link ${path} -> ${target}` };
};

const plan = (
  path: string,
  target: string,
  { inTheWay, hasOtherNames, force }: { inTheWay: boolean; hasOtherNames: boolean; force: boolean },
): Omit<StateReturn, 'name'> => {
  if (!inTheWay)
    return {
      result: null,
      changes: { new: path },
      comment: `Hard link ${path} to ${target} is set for creation`,
    };
  if (hasOtherNames)
    return {
      result: null,
      changes: { change: path },
      comment: `Link ${path} target is set to be changed to ${target}`,
    };
  return force
    ? {
        result: null,
        changes: inPlan({ forced: 'File for hard link was forcibly replaced', new: path }),
        comment: `The file or directory ${path} is set for removal to make way for a new hard link targeting ${target}`,
      }
    : {
        result: false,
        changes: {},
        comment: `File or directory exists where the hard link ${path} should be. Did you mean to use force?`,
      };
};

const isSameFile = (one: string, other: string): boolean => {
  if (!lstatOf(one)?.isFile()) return false;
  const [a, b] = [statSync(one), statSync(other)];
  return a.ino === b.ino && a.dev === b.dev;
};
