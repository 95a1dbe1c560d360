/** Manages file systems on block devices, and the devices' settings. */

import { messageOf } from '../../../protocol/error.ts';
import { which } from '../../_shared/commands/which.ts';
import { existsSync } from '../../_shared/safe-fs/fs.ts';
import { changed, failed, unchanged, would } from '../../_shared/states/returns.ts';
import { __opts__, __salt__, type PlainDict, type StateReturn } from '../../api.ts';

type FormatOptions = {
  fs_type?: string;
  force?: boolean;
  inode_size?: number | null;
  lazy_itable_init?: number | boolean | null;
  fat?: number | null;
};

/**
 * Makes sure that a device has a file system of this type. A file system of another type is
 * replaced, and all its data is lost.
 *
 * @param name the device
 * @param fs_type the type
 * @param force ext and xfs: also if the device is not a partition or contains data
 * @param inode_size ext: bytes per inode; xfs: size of an inode
 * @param lazy_itable_init ext: leave the tables of inodes to the kernel, at the first mount
 * @param fat 12, 16 or 32, for fat and vfat
 *
 * @example
 * /dev/sdb1:
 *   blockdev.formatted:
 *     - fs_type: ext4
 */
export const formatted = async (
  name: string,
  { fs_type = 'ext4', ...options }: FormatOptions = {},
): Promise<StateReturn> => {
  if (!existsSync(name)) return failed(name, `${name} does not exist`);
  try {
    const old = await typeOf(name);
    if (old === fs_type) return unchanged(name, `${name} already formatted with ${fs_type}`);
    if (!which(`mkfs.${fs_type}`)) return failed(name, `Invalid fs_type: ${fs_type}`);
    const changes = { old, new: fs_type };
    if (__opts__.test) return would(name, `Changes to ${name} will be applied `, changes);
    await __salt__['disk.format'](name, fs_type, options);
    return (await typeOf(name)) === fs_type
      ? changed(name, `${name} has been formatted with ${fs_type}`, changes)
      : failed(name, `Failed to format ${name}`);
  } catch (error) {
    return failed(name, messageOf(error));
  }
};

const typeOf = async (device: string): Promise<string> => {
  const found: Record<string, Record<string, string>> = await __salt__['disk.blkid'](device);
  return Object.values(found)[0]?.TYPE ?? '';
};

type Setting = number | string | boolean;

/** The options of `blockdev` that read each setting. */
const getters: Readonly<Record<string, string>> = {
  'read-ahead': 'getra',
  'filesystem-read-ahead': 'getfra',
  'read-only': 'getro',
  'read-write': 'getro',
};

/**
 * Manages the settings of a block device: `read-ahead` and `filesystem-read-ahead` in units of 512
 * bytes, `read-only: true` or `read-write: true`. Requires `blockdev`.
 *
 * @param name the device
 *
 * @example
 * /dev/sdb:
 *   blockdev.tuned:
 *     - read-ahead: 1024
 */
export const tuned = async (
  name: string,
  { ...settings }: { [setting: string]: Setting } = {},
): Promise<StateReturn> => {
  const odd = Object.keys(settings).find(key => !Object.hasOwn(getters, key));
  if (odd !== undefined)
    return failed(name, `'${odd}' cannot be set: ${Object.keys(getters).join(', ')} can.`);
  const now: Record<string, string> | false = await __salt__['disk.dump'](name);
  if (now === false)
    return failed(name, `Changes to ${name} cannot be applied. Not a block device. `);
  const due = Object.entries(settings).filter(([key, value]) => shown(key, now) !== plain(value));
  if (due.length === 0) return unchanged(name, `Block device ${name} already in correct state`);
  const changes: PlainDict = Object.fromEntries(
    due.map(([key, value]) => [key, `Changed from ${shown(key, now)} to ${plain(value)}`]),
  );
  if (__opts__.test) return would(name, `Changes to ${name} will be applied `, changes);
  const after: Record<string, string> | false = await __salt__['disk.tune'](
    name,
    Object.fromEntries(due),
  );
  return after !== false && due.every(([key, value]) => shown(key, after) === plain(value))
    ? changed(name, `Block device ${name} successfully modified `, changes)
    : failed(name, 'Failed to modify block device');
};

const plain = (value: Setting): string => String(value).toLowerCase();

/** Returns a setting as an SLS writes it. */
const shown = (key: string, facts: Record<string, string>): string => {
  const value = facts[getters[key] ?? ''] ?? '';
  if (key === 'read-only') return String(value === '1');
  return key === 'read-write' ? String(value === '0') : value;
};
