import { messageOf } from '../../../../protocol/error.ts';
import { expandUser, isAbs, lstatOf } from '../../../_shared/files/file-paths.ts';
import { rmSync, unlinkSync } from '../../../_shared/safe-fs/fs.ts';
import { CommandExecutionError, SaltInvocationError } from '../../../api.ts';

/**
 * Removes a file, a symlink, or a directory with all it holds. False when nothing is there.
 *
 * @param path an absolute path
 * @param force accepted for compatibility
 *
 * @example tsalt-ssh '*' file.remove /tmp/old
 */
export const remove = async (
  path: string,
  { force: _force = false }: { force?: boolean } = {},
): Promise<boolean> => {
  const full = expandUser(path);
  if (!isAbs(full)) throw new SaltInvocationError(`File path must be absolute: ${full}`);
  const found = lstatOf(full);
  if (!found) return false;
  try {
    if (found.isDirectory()) rmSync(full, { recursive: true });
    else unlinkSync(full);
    return true;
  } catch (error) {
    throw new CommandExecutionError(`Could not remove '${full}': ${messageOf(error)}`);
  }
};
