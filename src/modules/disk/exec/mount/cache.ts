import type { PlainDict } from '../../../../protocol/plain.ts';
import { isPlainDict, setOwn } from '../../../../protocol/plain.ts';
import { cacheDir } from '../../../_shared/files/cache-dir.ts';
import { readOr } from '../../../_shared/files/read-file.ts';
import { replaceFile } from '../../../_shared/files/write-file.ts';
import { CommandExecutionError } from '../../../api.ts';

const file = (): string => cacheDir('mounts');

const readCache = (): PlainDict => {
  const text = readOr(file());
  if (text === undefined) return {};
  try {
    const { mounts } = JSON.parse(text) as PlainDict;
    return isPlainDict(mounts) ? mounts : {};
  } catch {
    throw new CommandExecutionError(
      `${file()} is damaged. Remove it; it is created again when needed.`,
    );
  }
};

const writeCache = (mounts: PlainDict): Promise<void> =>
  // Options of a mount may hold a password.
  replaceFile(file(), JSON.stringify({ mounts }), 0o600);

/**
 * Returns the entry that `mount.write_mount_cache` saved for a mount point; an empty dict if there
 * is none.
 *
 * @param name the mount point
 * @example tsalt-ssh '*' mount.read_mount_cache /mnt/share
 */
export const read_mount_cache = async (name: string): Promise<PlainDict> => {
  const cache = readCache();
  const found = Object.hasOwn(cache, name) ? cache[name] : undefined;
  return isPlainDict(found) ? found : {};
};

/**
 * Saves how a mount point is mounted and returns true. States do not need this cache: they read the
 * kernel's mount table.
 *
 * @param real_name the mount point
 * @param device the mounted device
 * @param mkmnt whether the mount point is made
 * @param fstype its type
 * @param mount_opts its options
 * @example tsalt-ssh '*' mount.write_mount_cache /mnt/share /dev/sda1 False ext4 defaults,nosuid
 */
export const write_mount_cache = async (
  real_name: string,
  device: string,
  mkmnt: boolean,
  fstype: string,
  mount_opts: string | string[],
): Promise<true> => {
  const cache = readCache();
  setOwn(cache, real_name, { device, fstype, mkmnt, opts: mount_opts });
  await writeCache(cache);
  return true;
};

/**
 * Removes the entry that `mount.write_mount_cache` saved for a mount point and returns true.
 *
 * @param real_name the mount point
 * @example tsalt-ssh '*' mount.delete_mount_cache /mnt/share
 */
export const delete_mount_cache = async (real_name: string): Promise<true> => {
  const { [real_name]: gone, ...others } = readCache();
  if (gone !== undefined) await writeCache(others);
  return true;
};
