import { basename, join } from 'node:path';
import { messageOf } from '../../../../protocol/error.ts';
import { applyPerms } from '../../../_shared/files/check-perms.ts';
import { exists, expandUser, isAbs, isDir } from '../../../_shared/files/file-paths.ts';
import { copyFileSync, cpSync, renameSync, rmSync } from '../../../_shared/safe-fs/fs.ts';
import { CommandExecutionError, SaltInvocationError } from '../../../api.ts';
import { fileStats } from '../../file-stats.ts';

/**
 * Copies a file, or with `recurse` a directory. The copy has the source's owner and mode.
 *
 * @param src the file or directory to copy
 * @param dst where the copy shall be
 * @param recurse copy a directory with its contents
 * @param remove_existing remove an existing target first
 *
 * @example tsalt-ssh '*' file.copy /etc/app /srv/app recurse=True
 */
export const copy = async (
  src: string,
  dst: string,
  {
    recurse = false,
    remove_existing = false,
  }: { recurse?: boolean; remove_existing?: boolean } = {},
): Promise<boolean> => {
  const from = expandUser(src);
  const to = expandUser(dst);
  if (!isAbs(from)) throw new SaltInvocationError('File path must be absolute.');
  if (!exists(from)) throw new CommandExecutionError(`No such file or directory '${from}'`);
  const folders = isDir(to) || isDir(from);
  if (folders && !recurse)
    throw new SaltInvocationError(
      'Cannot copy overwriting a directory without recurse flag set to true!',
    );
  const { user, group, mode } = fileStats(from);
  try {
    if (folders && remove_existing) rmSync(to, { recursive: true, force: true });
    if (folders) cpSync(from, to, { recursive: true, verbatimSymlinks: true });
    else copyFileSync(from, to);
  } catch (error) {
    throw new CommandExecutionError(`Could not copy '${from}' to '${to}': ${messageOf(error)}`);
  }
  applyPerms(to, { user, group, mode, follow: true });
  return true;
};

/**
 * Renames a file or directory, on one file system.
 *
 * @param src its name
 * @param dst its new name
 *
 * @example tsalt-ssh '*' file.rename /srv/a /srv/b
 */
export const rename = async (src: string, dst: string): Promise<boolean> => {
  const from = expandUser(src);
  const to = expandUser(dst);
  if (!isAbs(from)) throw new SaltInvocationError('File path must be absolute.');
  try {
    renameSync(from, to);
  } catch (error) {
    throw new CommandExecutionError(`Could not rename '${from}' to '${to}': ${messageOf(error)}`);
  }
  return true;
};

/**
 * Moves a file or directory, also to another file system; into a directory that is there.
 *
 * @param src its path
 * @param dst the new path
 * @param disallow_copy_and_unlink only rename, as `file.rename` does
 *
 * @example tsalt-ssh '*' file.move /srv/a /mnt/b
 */
export const move = async (
  src: string,
  dst: string,
  { disallow_copy_and_unlink = false }: { disallow_copy_and_unlink?: boolean } = {},
): Promise<boolean | { result: boolean; comment: string }> => {
  if (disallow_copy_and_unlink) return await rename(src, dst);
  const from = expandUser(src);
  const to = expandUser(dst);
  if (!isAbs(from)) throw new SaltInvocationError('Source path must be absolute.');
  if (!isAbs(to)) throw new SaltInvocationError('Destination path must be absolute.');
  try {
    moveTo(from, isDir(to) ? placeIn(to, from) : to);
  } catch (error) {
    throw new CommandExecutionError(`Unable to move '${from}' to '${to}': ${messageOf(error)}`);
  }
  return { result: true, comment: `'${from}' moved to '${to}'` };
};

/** Returns the path of a file with the same name in a directory. */
const placeIn = (directory: string, path: string): string => {
  const place = join(directory, basename(path));
  if (exists(place)) throw new CommandExecutionError(`Destination path '${place}' already exists`);
  return place;
};

const moveTo = (from: string, to: string): void => {
  try {
    renameSync(from, to);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EXDEV')) throw error;
    cpSync(from, to, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
    const { user, group, mode } = fileStats(from, false);
    applyPerms(to, { user, group, mode });
    rmSync(from, { recursive: true });
  }
};
