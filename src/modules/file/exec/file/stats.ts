import { hashFile } from '../../../_shared/files/file-hash.ts';
import { expandUser, isAbs, lstatOf } from '../../../_shared/files/file-paths.ts';
import { SaltInvocationError } from '../../../api.ts';
import { type FileStats, fileStats } from '../../file-stats.ts';

/**
 * Returns the properties of a file: owner, group, mode, size, times, type, inode and link target.
 *
 * @param path the file
 * @param hash_type also return its hash, as `sum`
 * @param follow_symlinks false: about a symlink itself
 *
 * @example tsalt-ssh '*' file.stats /etc/passwd
 */
export const stats = async (
  path: string,
  {
    hash_type = null,
    follow_symlinks = true,
  }: { hash_type?: string | null; follow_symlinks?: boolean } = {},
): Promise<FileStats & { sum?: string }> => {
  const found = fileStats(path, follow_symlinks);
  if (!hash_type) return found;
  const { type, target, ...rest } = found;
  return { ...rest, sum: hashFile(expandUser(path), hash_type), type, target };
};

/**
 * Returns the raw fields of `lstat`; empty if the path does not exist.
 *
 * @param path an absolute path
 *
 * @example tsalt-ssh '*' file.lstat /etc/mtab
 */
export const lstat = async (path: string): Promise<Record<string, number>> => {
  const full = expandUser(path);
  if (!isAbs(full)) throw new SaltInvocationError('Path to file must be absolute.');
  const found = lstatOf(full);
  if (!found) return {};
  return {
    st_atime: found.atimeMs / 1000,
    st_ctime: found.ctimeMs / 1000,
    st_gid: found.gid,
    st_mode: found.mode,
    st_mtime: found.mtimeMs / 1000,
    st_nlink: found.nlink,
    st_size: found.size,
    st_uid: found.uid,
  };
};
