import { dirname, normalize } from 'node:path';
import { checkPerms, type DesiredPerms } from '../_shared/files/check-perms.ts';
import { isDir } from '../_shared/files/file-paths.ts';
import { makeDirs } from '../_shared/files/make-dirs.ts';
import { failed } from '../_shared/states/returns.ts';
import type { StateReturn } from '../api.ts';

/**
 * Makes a directory where nothing is, and reports into `ret`.
 *
 * @param makedirs whether missing directories above it are made
 */
export const createDirectory = (
  ret: StateReturn,
  path: string,
  { user, group, mode }: DesiredPerms,
  makedirs: boolean,
): StateReturn => {
  if (!isDir(dirname(path)) && !makedirs) return failed(ret, `No directory to create ${path} in`);
  makeDirs(normalize(path), { user, group, mode });
  if (!isDir(path)) return failed(ret, `Failed to create directory ${path}`);
  const { ok, comments } = checkPerms(path, { user, group, mode });
  ret.changes[path] = { directory: 'new' };
  return ok ? ret : failed(ret, comments.join('; '));
};
