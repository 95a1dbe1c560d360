import { failed, newReturn } from '../../../_shared/states/returns.ts';
import { __opts__, __salt__, type StateReturn } from '../../../api.ts';

type MountBy = 'device' | 'label' | 'uuid' | 'partlabel' | 'partuuid' | null;

type FstabOptions = {
  fs_mntops?: string | string[];
  fs_freq?: number | string;
  fs_passno?: number | string;
  mount_by?: MountBy;
  config?: string;
  mount?: boolean;
  match_on?: string | string[];
  not_change?: boolean;
  fs_mount?: boolean;
};

/**
 * Manages an entry of the fstab. A new entry is also mounted.
 *
 * @param name the device to mount
 * @param fs_file the mount point
 * @param fs_vfstype its type
 * @param fs_mntops mount options
 * @param fs_freq whether `dump` saves it
 * @param fs_passno when `fsck` checks it
 * @param mount_by how the entry names the device: `device`, `label`, `uuid`, `partlabel`, `partuuid`
 * @param config the fstab
 * @param mount false: do not mount it
 * @param match_on `auto`, or the fields that identify the entry: `name`, `device`
 * @param not_change do not change an existing entry
 * @param fs_mount has no effect: AIX needs it
 *
 * @example
 * /dev/sdb1:
 *   mount.fstab_present:
 *     - fs_file: /mnt/data
 *     - fs_vfstype: ext4
 *     - mount_by: uuid
 */
export const fstab_present = async (
  name: string,
  fs_file: string,
  fs_vfstype: string,
  {
    fs_mntops = 'defaults',
    fs_freq = 0,
    fs_passno = 0,
    mount_by = null,
    config = '/etc/fstab',
    mount = true,
    match_on = 'auto',
    not_change = false,
    fs_mount: _fsMount = true,
  }: FstabOptions = {},
): Promise<StateReturn> => {
  const ret = newReturn(name);
  const { test } = __opts__;
  const point = withoutSlash(fs_file);
  const device = await namedBy(name, mount_by);
  if (device === undefined) return failed(ret, `Device ${name} cannot be converted to ${mount_by}`);
  const status = await __salt__['mount.set_fstab'](point, device, fs_vfstype, {
    opts: fs_mntops,
    dump: fs_freq,
    pass_num: fs_passno,
    config,
    test,
    match_on,
    not_change,
  });
  if (status === 'present')
    return {
      ...ret,
      comment: `${point} entry ${__opts__.test ? 'is' : 'was'} already in ${config}.`,
    };
  const changes = { persist: status };
  const mounts = mount && status === 'new';
  if (test) {
    const planned = `${point} entry will be ${status === 'new' ? 'written' : 'updated'} in ${config}.`;
    const more = mounts ? `\nWill mount ${name} on ${point}` : '';
    return { ...ret, changes, result: null, comment: `${planned}${more}` };
  }
  const done = `${point} entry ${status === 'new' ? 'added' : 'updated'} in ${config}.`;
  if (!mounts) return { ...ret, changes, comment: done };
  const options = [fs_mntops].flat().join(',');
  const out = await __salt__['mount.mount'](point, device, false, fs_vfstype, options);
  return out === true
    ? { ...ret, changes, comment: `${done}\nMounted ${name} on ${point}` }
    : failed({ ...ret, changes }, `${done}\nError while mounting ${out}`);
};

/**
 * Makes sure that an entry is not in the fstab.
 *
 * @param name the device in the entry
 * @param fs_file the mount point
 * @param mount_by how the entry names the device: `device`, `label`, `uuid`, `partlabel`, `partuuid`
 * @param config the fstab
 *
 * @example
 * /dev/sdb1:
 *   mount.fstab_absent:
 *     - fs_file: /mnt/data
 */
export const fstab_absent = async (
  name: string,
  fs_file: string,
  { mount_by = null, config = '/etc/fstab' }: { mount_by?: MountBy; config?: string } = {},
): Promise<StateReturn> => {
  const ret = newReturn(name);
  const point = withoutSlash(fs_file);
  const entries: object = await __salt__['mount.fstab'](config);
  if (!Object.hasOwn(entries, point))
    return { ...ret, comment: `${point} entry is already missing in ${config}.` };
  const changes = { persist: 'removed' };
  if (__opts__.test)
    return {
      ...ret,
      result: null,
      changes,
      comment: `${point} entry will be removed from ${config}.`,
    };
  await __salt__['mount.rm_fstab'](point, (await namedBy(name, mount_by)) ?? null, config);
  return { ...ret, changes, comment: `${point} entry removed from ${config}.` };
};

const withoutSlash = (path: string): string => path.replace(/(.)\/+$/, '$1');

/** Returns the name of a device in the fstab; undefined if it has no name of this kind. */
const namedBy = async (device: string, kind: MountBy): Promise<string | undefined> => {
  const isPath = device.startsWith('/');
  const key = kind?.toUpperCase();
  if (!kind || (kind === 'device' && isPath) || device.startsWith(`${key}=`)) return device;
  const found: Record<string, Record<string, string>> = isPath
    ? await __salt__['disk.blkid'](device)
    : await __salt__['disk.blkid'](null, device);
  const [only, ...others] = Object.entries(found);
  if (!only || others.length > 0) return undefined;
  if (kind === 'device') return only[0];
  const value = only[1][key ?? ''];
  return value === undefined ? undefined : `${key}=${value}`;
};
