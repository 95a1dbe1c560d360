/** File systems are mounted and stand in fstab. */
import { __opts__, __salt__, type StateReturn } from '../api.ts';
import { messageOf } from '../lib/call.ts';
import { isDir, realPath } from '../lib/file-paths.ts';
import { failed, newReturn } from '../lib/returns.ts';

type MountedOptions = {
  mkmnt?: boolean;
  opts?: string | string[];
  dump?: number | string;
  pass_num?: number | string;
  config?: string;
  persist?: boolean;
  mount?: boolean;
  match_on?: string | string[];
};

type Active = Record<string, { device: string; fstype: string; opts: string[] }>;

/**
 * Makes sure that a file system is mounted, now and at boot.
 *
 * @param name the mount point
 * @param device what to mount: a device, `UUID=…`, `LABEL=…`, `host:/path`
 * @param fstype its type
 * @param mkmnt make the mount point
 * @param opts mount options
 * @param dump whether `dump` saves it
 * @param pass_num when `fsck` checks it
 * @param config the fstab
 * @param persist keep it in the fstab
 * @param mount false: only keep it in the fstab
 * @param match_on `auto`, or what finds the entry of the fstab: `name`, `device`
 *
 * @example
 * /mnt/data:
 *   mount.mounted:
 *     - device: /dev/sdb1
 *     - fstype: ext4
 *     - mkmnt: True
 */
export const mounted = async (
  name: string,
  device: string,
  fstype: string,
  {
    mkmnt = false,
    opts = 'defaults',
    dump = 0,
    pass_num = 0,
    config = '/etc/fstab',
    persist = true,
    mount = true,
    match_on = 'auto',
  }: MountedOptions = {},
): Promise<StateReturn> => {
  const ret = newReturn(name);
  const { test } = __opts__;
  const path = realPath(name);
  const active: Active = (await __salt__['mount.active']?.()) ?? {};
  const current = active[path];
  const options = [opts].flat().join(',');
  let comment: string;
  if (current && !isDevice(current.device, device) && mount) {
    if (test) {
      ret.result = null;
      ret.changes.umount = `Forced unmount because devices do not match. Wanted: ${device} Got: ${current.device}`;
      comment = `An umount would have been forced because devices do not match.  Watched: ${device}`;
    } else {
      const out = await __salt__['mount.umount']?.(path);
      if (out !== true) return failed(ret, `Unable to unmount ${path}: ${out}.`);
      const again = await __salt__['mount.mount']?.(path, device, false, fstype, options);
      if (again !== true) return failed(ret, String(again));
      ret.changes = {
        umount: `Forced unmount because devices do not match. Wanted: ${device} Got: ${current.device}`,
        mount: true,
      };
      comment = 'Target was successfully mounted';
    }
  } else if (current) comment = 'Target was already mounted';
  else if (!mount) comment = `${name} not mounted`;
  else if (test) {
    ret.result = null;
    ret.changes.mount = true;
    comment = isDir(path)
      ? `${name} would be mounted`
      : mkmnt
        ? `${name} would be created and mounted`
        : `${name} does not exist and would not be created`;
  } else {
    if (!isDir(path) && !mkmnt) return failed(ret, 'Mount directory is not present');
    const out = await __salt__['mount.mount']?.(path, device, mkmnt, fstype, options);
    if (out !== true) return failed(ret, String(out));
    ret.changes.mount = true;
    comment = 'Target was successfully mounted';
  }
  if (!persist) return { ...ret, comment };
  const kept = { opts: options, dump, pass_num, config, match_on, test };
  return keep({ ...ret, comment }, path, device, fstype, kept);
};

const keep = async (
  ret: StateReturn,
  path: string,
  device: string,
  fstype: string,
  options: Record<string, unknown> & { test: boolean },
): Promise<StateReturn> => {
  const status = await __salt__['mount.set_fstab']?.(path, device, fstype, options);
  if (status === 'present')
    return { ...ret, comment: `${ret.comment}. Entry already exists in the fstab.` };
  ret.changes.persist = status === 'new' ? 'new' : 'update';
  const planned = status === 'new' ? 'needs to be written to' : 'must be updated in';
  const done =
    status === 'new' ? 'Added new entry to the fstab.' : 'Updated the entry in the fstab.';
  return options.test
    ? { ...ret, result: null, comment: `${ret.comment}. ${ret.name} ${planned} the fstab` }
    : { ...ret, comment: `${ret.comment}. ${done}` };
};

/** `/dev/disk/by-uuid/…` and the device it leads to are the same. */
const isDevice = (mounted_: string, wanted: string): boolean => {
  const named = wanted.match(/^(UUID|LABEL|PARTUUID|PARTLABEL)="?([^"]*)"?$/);
  const path = named ? `/dev/disk/by-${named[1]?.toLowerCase()}/${named[2]}` : wanted;
  return mounted_ === wanted || realPath(mounted_) === realPath(path);
};

/**
 * Makes sure that nothing is mounted at a path.
 *
 * @param name the mount point
 * @param device what is mounted there, for the fstab
 * @param config the fstab
 * @param persist also take it from the fstab
 *
 * @example
 * /mnt/data:
 *   mount.unmounted:
 *     - persist: True
 */
export const unmounted = async (
  name: string,
  {
    device = null,
    config = '/etc/fstab',
    persist = false,
  }: { device?: string | null; config?: string; persist?: boolean } = {},
): Promise<StateReturn> => {
  const ret = newReturn(name);
  const comments: string[] = [];
  const path = realPath(name);
  const active: Active = (await __salt__['mount.active']?.()) ?? {};
  const isMounted = Object.hasOwn(active, path);
  if (!isMounted) comments.push('Target was already unmounted');
  else if (__opts__.test) {
    ret.result = null;
    ret.changes.umount = true;
    comments.push(`Mount point ${name} is mounted but should not be`);
  } else {
    const out = await __salt__['mount.umount']?.(path);
    if (out !== true) return failed(ret, String(out));
    ret.changes.umount = true;
    comments.push('Target was successfully unmounted');
  }
  if (persist) {
    const entries: Active = await __salt__['mount.fstab']?.(config);
    const entry = entries[name];
    if (!entry || (device !== null && entry.device !== device))
      comments.push('fstab entry not found');
    else if (__opts__.test) {
      ret.result = null;
      ret.changes.persist = 'purged';
      comments.push(`Mount point ${name} needs to be purged from ${config} to be made persistent`);
    } else {
      await __salt__['mount.rm_fstab']?.(name, device, config);
      ret.changes.persist = 'purged';
      comments.push('Removed target from fstab');
    }
  }
  return { ...ret, comment: comments.join('. ') };
};

/**
 * Makes sure that a swap space is in use, now and at boot.
 *
 * @param name the device or file
 * @param persist keep it in the fstab
 * @param config the fstab
 *
 * @example
 * /root/swapfile:
 *   mount.swap: []
 */
export const swap = async (
  name: string,
  { persist = true, config = '/etc/fstab' }: { persist?: boolean; config?: string } = {},
): Promise<StateReturn> => {
  const ret = newReturn(name);
  const active: object = await __salt__['mount.swaps']?.();
  const { test } = __opts__;
  let comment = `Swap ${name} already active`;
  if (!Object.hasOwn(active, name)) {
    ret.changes.swap = 'active';
    comment = test ? `Swap ${name} is set to be activated` : `Swap ${name} activated`;
    if (test) ret.result = null;
    else
      try {
        await __salt__['mount.swapon']?.(name);
      } catch (error) {
        return failed(
          { ...ret, changes: {} },
          `Swap ${name} failed to activate: ${messageOf(error)}`,
        );
      }
  }
  if (!persist) return { ...ret, comment };
  const status = await __salt__['mount.set_fstab']?.('none', name, 'swap', { config, test });
  if (status === 'present') return { ...ret, comment };
  ret.changes.persist = status === 'new' ? 'new' : 'update';
  if (test)
    return {
      ...ret,
      result: null,
      comment: `${comment}. Swap ${name} is set to be added to the fstab`,
    };
  const done =
    status === 'new' ? 'Added new entry to the fstab.' : 'Updated the entry in the fstab.';
  return { ...ret, comment: `${comment}. ${done}` };
};

type FstabOptions = {
  fs_mntops?: string | string[];
  fs_freq?: number | string;
  fs_passno?: number | string;
  config?: string;
  mount?: boolean;
  match_on?: string | string[];
  not_change?: boolean;
};

/**
 * Manages an entry of the fstab.
 *
 * @param name what is mounted
 * @param fs_file the mount point
 * @param fs_vfstype its type
 * @param fs_mntops mount options
 * @param fs_freq whether `dump` saves it
 * @param fs_passno when `fsck` checks it
 * @param config the fstab
 * @param mount accepted for compatibility
 * @param match_on `auto`, or what finds the entry: `name`, `device`
 * @param not_change leave an entry that is there as it is
 *
 * @example
 * /dev/sdb1:
 *   mount.fstab_present:
 *     - fs_file: /mnt/data
 *     - fs_vfstype: ext4
 */
export const fstab_present = async (
  name: string,
  fs_file: string,
  fs_vfstype: string,
  {
    fs_mntops = 'defaults',
    fs_freq = 0,
    fs_passno = 0,
    config = '/etc/fstab',
    mount: _mount = true,
    match_on = 'auto',
    not_change = false,
  }: FstabOptions = {},
): Promise<StateReturn> => {
  const ret = newReturn(name);
  const { test } = __opts__;
  const status = await __salt__['mount.set_fstab']?.(fs_file, name, fs_vfstype, {
    opts: fs_mntops,
    dump: fs_freq,
    pass_num: fs_passno,
    config,
    test,
    match_on,
    not_change,
  });
  if (status === 'present')
    return { ...ret, comment: `${fs_file} entry was already in ${config}.` };
  const what = status === 'new' ? 'added to' : 'updated in';
  if (test) {
    const planned =
      status === 'new' ? `will be written in ${config}` : `will be updated in ${config}`;
    return {
      ...ret,
      result: null,
      changes: { persist: status },
      comment: `${fs_file} entry ${planned}.`,
    };
  }
  return { ...ret, changes: { persist: status }, comment: `${fs_file} entry ${what} ${config}.` };
};

/**
 * Makes sure that an entry is not in the fstab.
 *
 * @param name what is mounted
 * @param fs_file the mount point
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
  { config = '/etc/fstab' }: { config?: string } = {},
): Promise<StateReturn> => {
  const ret = newReturn(name);
  const entries: object = await __salt__['mount.fstab']?.(config);
  if (!Object.hasOwn(entries, fs_file))
    return { ...ret, comment: `${fs_file} entry is already missing in ${config}.` };
  const changes = { persist: 'removed' };
  if (__opts__.test)
    return {
      ...ret,
      result: null,
      changes,
      comment: `${fs_file} entry will be removed from ${config}.`,
    };
  await __salt__['mount.rm_fstab']?.(fs_file, name, config);
  return { ...ret, changes, comment: `${fs_file} entry removed from ${config}.` };
};

/**
 * Mounts again when a watched state changed.
 *
 * @param name the mount point
 * @param sfun the function that watches
 * @param device what is mounted
 * @param fstype its type
 * @param opts mount options
 *
 * @example called by the engine
 */
export const mod_watch = async (
  name: string,
  {
    sfun = null,
    device = '',
    fstype = '',
    opts = 'defaults',
  }: { sfun?: string | null; device?: string; fstype?: string; opts?: string | string[] } = {},
): Promise<StateReturn> => {
  const ret = newReturn(name);
  if (sfun !== 'mounted') return { ...ret, comment: `Watch not supported in ${sfun} at this time` };
  const out = await __salt__['mount.remount']?.(name, device, false, fstype, opts);
  return out === true
    ? { ...ret, changes: { mount: true }, comment: `${name} remounted` }
    : failed(ret, `${name} failed to remount: ${out}`);
};
