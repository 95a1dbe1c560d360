import { dirname, normalize } from 'node:path';
import { type AccountName, applyPerms } from '../../../_shared/files/check-perms.ts';
import { exists, expandUser, isAbs, isDir } from '../../../_shared/files/file-paths.ts';
import { makeDirs } from '../../../_shared/files/make-dirs.ts';
import { readdirSync } from '../../../_shared/safe-fs/fs.ts';
import { SaltInvocationError } from '../../../api.ts';

type DirectoryOptions = {
  /** owner of created directories */
  user?: AccountName;
  /** group of created directories */
  group?: AccountName;
  /** mode of created directories */
  mode?: string | number | null;
};

/**
 * Makes a directory, and those above it, unless it is there.
 *
 * @param dir_path the directory
 * @example tsalt-ssh '*' file.mkdir /opt/app
 */
export const mkdir = async (
  dir_path: string,
  { user = null, group = null, mode = null }: DirectoryOptions = {},
): Promise<boolean> => {
  makeDirs(normalize(expandUser(dir_path)), { user, group, mode });
  return true;
};

/**
 * Makes the directories above a path. A path that ends with `/` is itself made.
 *
 * @param path the path
 * @example tsalt-ssh '*' file.makedirs /opt/app/conf/
 */
export const makedirs = async (
  path: string,
  { user = null, group = null, mode = null }: DirectoryOptions = {},
): Promise<string | null> => {
  const full = expandUser(path);
  const dir = full.endsWith('/')
    ? normalize(full).replace(/(.)\/$/, '$1')
    : normalize(dirname(full));
  if (isDir(dir)) return `Directory '${dir}' already exists`;
  if (exists(dir)) return `The path '${dir}' already exists and is not a directory`;
  makeDirs(dir, { user, group, mode });
  return null;
};

/**
 * Makes a directory and those above it, with owner, group and mode.
 *
 * @param name the directory
 * @param user owner
 * @param group group
 * @param mode mode
 *
 * @example tsalt-ssh '*' file.makedirs_perms /opt/app user=www
 */
export const makedirs_perms = async (
  name: string,
  { user = null, group = null, mode = '0755' }: DirectoryOptions = {},
): Promise<null> => {
  const full = normalize(expandUser(name));
  makeDirs(full, { user, group, mode });
  applyPerms(full, { user, group, mode });
  return null;
};

/**
 * Lists the entries of a directory, including `.` and `..`.
 *
 * @param path the directory
 *
 * @example tsalt-ssh '*' file.readdir /etc
 */
export const readdir = async (path: string): Promise<string[]> => {
  const full = expandUser(path);
  if (!isAbs(full)) throw new SaltInvocationError('Dir path must be absolute.');
  if (!isDir(full)) throw new SaltInvocationError('A valid directory was not specified.');
  return ['.', '..', ...readdirSync(full)];
};
