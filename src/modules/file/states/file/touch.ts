import { dirname } from 'node:path';
import { exists, expandUser, isAbs, isDir } from '../../../_shared/files/file-paths.ts';
import { failed, newReturn } from '../../../_shared/states/returns.ts';
import { __opts__, __salt__, type StateReturn } from '../../../api.ts';
import { fileStats } from '../../file-stats.ts';

type TouchOptions = {
  atime?: string | number | null;
  mtime?: string | number | null;
  makedirs?: boolean;
};

/**
 * Makes an empty file, or sets the times of one that is there.
 *
 * @param name the file
 * @param atime access time, in seconds since 1970; by default, now
 * @param mtime modification time, in seconds since 1970; by default, now
 * @param makedirs make missing directories above
 *
 * @example
 * /var/log/httpd/logrotate.empty:
 *   file.touch: []
 */
export const touch = async (
  name: string,
  { atime = null, mtime = null, makedirs = false }: TouchOptions = {},
): Promise<StateReturn> => {
  const path = expandUser(name);
  const ret = newReturn(path);
  if (!path) return failed(ret, 'Must provide name to file.touch');
  if (!isAbs(path)) return failed(ret, `Specified file ${path} is not an absolute path`);
  if (__opts__.test) return { ...ret, ...plan(path, atime, mtime) };
  if (makedirs) await __salt__['file.makedirs']?.(path);
  if (!isDir(dirname(path))) return failed(ret, `Directory not present to touch file ${path}`);
  const extant = exists(path);
  const result = await __salt__['file.touch']?.(path, atime, mtime);
  if (!result) return failed(ret, `Could not touch ${path}`);
  if (!extant) return { ...ret, changes: { new: path }, comment: `Created empty file ${path}` };
  const what = isDir(path) ? 'directory' : 'file';
  return { ...ret, changes: { touched: path }, comment: `Updated times on ${what} ${path}` };
};

const plan = (
  path: string,
  atime: string | number | null,
  mtime: string | number | null,
): Omit<StateReturn, 'name'> => {
  if (!exists(path))
    return {
      result: null,
      changes: { new: path },
      comment: `File ${path} is set to be created`,
    };
  const stats = fileStats(path, false);
  const differs = (wanted: string | number | null, now: number): boolean =>
    wanted !== null && Number(wanted) !== now;
  if (differs(atime, stats.atime) || differs(mtime, stats.mtime))
    return {
      result: null,
      changes: { touched: path },
      comment: `Times set to be updated on file ${path}`,
    };
  return { result: true, changes: {}, comment: `File ${path} exists and has the correct times` };
};
