import { dirname, normalize } from 'node:path';
import { messageOf } from '../../../../protocol/error.ts';
import { discardTemp, openTemp } from '../../../_shared/files/atomic-write.ts';
import {
  exists,
  expandUser,
  isAbs,
  isLink,
  linkExists,
  realPath,
} from '../../../_shared/files/file-paths.ts';
import {
  linkSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
} from '../../../_shared/safe-fs/fs.ts';
import { CommandExecutionError, SaltInvocationError } from '../../../api.ts';

/**
 * Creates a symlink.
 *
 * @param src its target
 * @param path the symlink
 * @param force replace an existing file or symlink; an existing directory is an error
 * @param atomic replace an existing file or symlink atomically
 *
 * @example tsalt-ssh '*' file.symlink /srv/app-2 /srv/app atomic=True
 */
export const symlink = async (
  src: string,
  path: string,
  { force = false, atomic = false }: { force?: boolean; atomic?: boolean } = {},
): Promise<boolean> => {
  const full = expandUser(path);
  if (!isAbs(full)) throw new SaltInvocationError(`Link path must be absolute: ${full}`);
  if (isLink(full) && normalize(readlinkSync(full)) === normalize(src)) return true;
  if (isLink(full) && !force && !atomic)
    throw new CommandExecutionError(`Found existing symlink: ${full}`);
  if (exists(full) && !force && !atomic)
    throw new CommandExecutionError(`Existing path is not a symlink: ${full}`);
  try {
    if (atomic) swapIn(src, full);
    else {
      // As in Salt, a directory is not replaced; use `file.remove` first.
      if (linkExists(full)) unlinkSync(full);
      symlinkSync(src, full);
    }
  } catch (error) {
    throw new CommandExecutionError(`Could not create '${full}': ${messageOf(error)}`);
  }
  return true;
};

const swapIn = (src: string, path: string): void => {
  const temp = openTemp(dirname(path), 'link');
  discardTemp(temp);
  symlinkSync(src, temp.path);
  try {
    renameSync(temp.path, path);
  } catch (error) {
    rmSync(temp.path, { force: true });
    throw error;
  }
};

/**
 * Makes a hard link: one more name for a file.
 *
 * @param src the file
 * @param path its new name
 *
 * @example tsalt-ssh '*' file.link /srv/a /srv/b
 */
export const link = async (src: string, path: string): Promise<boolean> => {
  const full = expandUser(src);
  if (!isAbs(full)) throw new SaltInvocationError('File path must be absolute.');
  try {
    linkSync(full, expandUser(path));
  } catch (error) {
    throw new CommandExecutionError(`Could not create '${path}': ${messageOf(error)}`);
  }
  return true;
};

/**
 * Returns the target of a symlink.
 *
 * @param path the symlink
 * @param canonicalize follow all links to the end
 *
 * @example tsalt-ssh '*' file.readlink /etc/mtab
 */
export const readlink = async (
  path: string,
  { canonicalize = false }: { canonicalize?: boolean } = {},
): Promise<string> => {
  const full = expandUser(path);
  if (!isAbs(full)) throw new SaltInvocationError(`Path to link must be absolute: ${full}`);
  if (!isLink(full)) throw new SaltInvocationError(`A valid link was not specified: ${full}`);
  return canonicalize ? realPath(full) : readlinkSync(full);
};
