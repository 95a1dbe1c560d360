import { expandUser, isDir, isFile, isLink, lstatOf } from '../../../_shared/files/file-paths.ts';
import { globPaths } from '../../../_shared/files/glob-paths.ts';
import { accessSync, constants } from '../../../_shared/safe-fs/fs.ts';
import { SaltInvocationError } from '../../../api.ts';

/**
 * Whether a file is there.
 *
 * @param path the file
 *
 * @example tsalt-ssh '*' file.file_exists /etc/passwd
 */
export const file_exists = async (path: string): Promise<boolean> => isFile(expandUser(path));

/**
 * Whether a directory is there.
 *
 * @param path the directory
 *
 * @example tsalt-ssh '*' file.directory_exists /etc
 */
export const directory_exists = async (path: string): Promise<boolean> => isDir(expandUser(path));

/**
 * Whether anything matches a glob.
 *
 * @param path the glob
 *
 * @example tsalt-ssh '*' file.path_exists_glob '/etc/pam*'
 */
export const path_exists_glob = async (path: string): Promise<boolean> =>
  globPaths(expandUser(path)).length > 0;

/**
 * Whether a path is a symlink.
 *
 * @param path the path
 *
 * @example tsalt-ssh '*' file.is_link /etc/mtab
 */
export const is_link = async (path: string): Promise<boolean> => isLink(expandUser(path));

/**
 * Whether a file has more than one name.
 *
 * @param path the file
 *
 * @example tsalt-ssh '*' file.is_hardlink /bin/gunzip
 */
export const is_hardlink = async (path: string): Promise<boolean> =>
  (lstatOf(expandUser(path))?.nlink ?? 0) > 1;

const modes: Readonly<Record<string, number>> = {
  f: constants.F_OK,
  r: constants.R_OK,
  w: constants.W_OK,
  x: constants.X_OK,
};

/**
 * Whether the user of this run may use a file so.
 *
 * @param path the file
 * @param mode `f` exists, `r` readable, `w` writable, `x` executable
 *
 * @example tsalt-ssh '*' file.access /etc/passwd r
 */
export const access = async (path: string, mode: string | number): Promise<boolean> => {
  const full = expandUser(path);
  if (!full.startsWith('/')) throw new SaltInvocationError('Path to link must be absolute.');
  const wanted = typeof mode === 'number' ? mode : modes[mode];
  if (wanted === undefined) throw new SaltInvocationError('Invalid mode specified.');
  try {
    accessSync(full, wanted);
    return true;
  } catch {
    return false;
  }
};
