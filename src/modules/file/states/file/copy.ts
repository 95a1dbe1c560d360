import { basename, dirname, join } from 'node:path';
import { messageOf } from '../../../../protocol/error.ts';
import { type AccountName, checkPerms } from '../../../_shared/files/check-perms.ts';
import { missingAccounts } from '../../../_shared/files/file-checks.ts';
import { hashFile } from '../../../_shared/files/file-hash.ts';
import { normalizeMode } from '../../../_shared/files/file-mode.ts';
import {
  exists,
  expandUser,
  isAbs,
  isDir,
  isFile,
  linkExists,
} from '../../../_shared/files/file-paths.ts';
import { groupName, primaryGid, userName } from '../../../_shared/files/owner-names.ts';
import { failed, inPlan, newReturn } from '../../../_shared/states/returns.ts';
import { __opts__, __salt__, type StateReturn } from '../../../api.ts';
import { walk } from '../../directory-checks.ts';
import { fileStats } from '../../file-stats.ts';

type CopyOptions = {
  force?: boolean;
  makedirs?: boolean;
  preserve?: boolean;
  user?: AccountName;
  group?: AccountName;
  mode?: string | number | null;
  dir_mode?: string | number | null;
  subdir?: boolean;
};

/**
 * Copies a file or directory on this host, if the target does not exist yet.
 *
 * @param name where the copy shall be
 * @param source the file or directory to copy
 * @param force overwrite an existing target
 * @param makedirs make missing directories above
 * @param preserve keep owner, group and mode of the source
 * @param user owner of the copy
 * @param group group of the copy
 * @param mode mode of the copy; by default, the source's mode
 * @param dir_mode mode of directories that are made
 * @param subdir when the target is a directory, copy into it
 * @unknown ignored
 *
 * @example
 * /etc/app.conf:
 *   file.copy:
 *     - source: /usr/share/app/app.conf.example
 */
export const copy = async (
  name: string,
  source: string,
  {
    force = false,
    makedirs = false,
    preserve = false,
    user = null,
    group = null,
    mode = null,
    dir_mode = null,
    subdir = false,
  }: CopyOptions = {},
): Promise<StateReturn> => {
  const given = expandUser(name);
  const from = expandUser(source);
  const ret = newReturn(given);
  if (!given) return failed(ret, 'Must provide name to file.copy');
  if (!isAbs(given)) return failed(ret, `Specified file ${given} is not an absolute path`);
  if (!exists(from)) return failed(ret, `Source file "${from}" is not present`);
  const stats = fileStats(from);
  const owner = preserve ? stats.user : (user ?? userName(process.geteuid?.() ?? 0));
  const ownGid = typeof owner === 'string' ? primaryGid(owner) : undefined;
  const perms = {
    user: owner,
    group: preserve ? stats.group : (group ?? groupName(ownGid ?? process.getegid?.() ?? 0)),
    mode: preserve ? stats.mode : (normalizeMode(mode) ?? stats.mode),
  };
  const problem = preserve ? '' : missingAccounts(perms.user, perms.group);
  if (problem) return failed(ret, problem);
  const path = isDir(given) && subdir ? join(given, basename(from)) : given;
  const taken = linkExists(path);
  if (taken && !force)
    return { ...ret, comment: `The target file "${path}" exists and will not be overwritten` };
  if (__opts__.test)
    return {
      ...ret,
      result: null,
      changes: inPlan({ [path]: from }),
      comment: `File "${from}" is set to be copied to "${path}"`,
    };
  const identical = taken && isFile(path) && isFile(from) && hashFile(path) === hashFile(from);
  try {
    if (!isDir(dirname(path))) {
      if (!makedirs) return failed(ret, `The target directory ${dirname(path)} is not present`);
      const dirMode =
        dir_mode ?? perms.mode.slice(-3).replace(/[1-7]/g, d => String(Number(d) | 1));
      await __salt__['file.makedirs']?.(path, { ...perms, mode: dirMode });
    }
    if (taken) await __salt__['file.remove']?.(path, { force: true });
    await __salt__['file.copy']?.(from, path, { recurse: isDir(from) });
    if (isDir(path) && !preserve)
      for (const entry of walk(path))
        await __salt__['file.lchown']?.(entry.path, perms.user, perms.group);
  } catch (error) {
    return failed(ret, `Failed to copy "${from}" to "${path}": ${messageOf(error)}`);
  }
  const checked = checkPerms(path, perms);
  const changes = { [path]: from, ...checked.changes };
  if (!checked.ok) return failed({ ...ret, changes }, checked.comments.join('; '));
  const note = identical ? ' - files are identical but force flag is set' : '';
  return { ...ret, changes, comment: `Copied "${from}" to "${path}"${note}` };
};
