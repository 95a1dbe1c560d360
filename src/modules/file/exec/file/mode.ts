import { modeBits, normalizeMode } from '../../../_shared/files/file-mode.ts';
import { exists, expandUser } from '../../../_shared/files/file-paths.ts';
import { chmodSync } from '../../../_shared/safe-fs/fs.ts';
import { CommandExecutionError } from '../../../api.ts';
import { fileStats } from '../../file-stats.ts';

/**
 * Returns the mode of a file, as four octal digits.
 *
 * @param path the file
 * @param follow_symlinks false: of a symlink itself
 *
 * @example tsalt-ssh '*' file.get_mode /etc/passwd
 */
export const get_mode = async (
  path: string,
  { follow_symlinks = true }: { follow_symlinks?: boolean } = {},
): Promise<string> => fileStats(path, follow_symlinks).mode;

/**
 * Sets the mode of a file and returns the resulting mode.
 *
 * @param path the file
 * @param mode octal digits
 *
 * @example tsalt-ssh '*' file.set_mode /etc/passwd 0644
 */
export const set_mode = async (path: string, mode: string | number): Promise<string> => {
  const full = expandUser(path);
  if (!exists(full)) throw new CommandExecutionError(`${full}: File not found`);
  const bits = modeBits(normalizeMode(mode) ?? '');
  if (bits === undefined) return `Invalid Mode ${mode}`;
  chmodSync(full, bits);
  return fileStats(full).mode;
};
