/** Manages mounted file systems and their entries in fstab. */

import { isDir } from '../../../_shared/files/file-paths.ts';
import { makeDirs } from '../../../_shared/files/make-dirs.ts';
import { isMountedDevice, isSameMountPoint } from '../../../_shared/files/mounts.ts';
import { existsSync } from '../../../_shared/safe-fs/fs.ts';
import { followLinks } from '../../../_shared/safe-fs/open-parent.ts';
import { failed, newReturn } from '../../../_shared/states/returns.ts';
import { pythonRegex } from '../../../_shared/text/python-regex.ts';
import { __opts__, __salt__, type StateReturn } from '../../../api.ts';
import { type Active, changedOptions, type OptionRules } from '../../mount-options.ts';

type MountedOptions = OptionRules & {
  mkmnt?: boolean;
  opts?: string | string[];
  dump?: number | string;
  pass_num?: number | string;
  config?: string;
  persist?: boolean;
  mount?: boolean;
  user?: string | null;
  match_on?: string | string[];
  device_name_regex?: string | string[] | null;
  bind_mount_copy_active_opts?: boolean;
};

/**
 * Makes sure that a file system is mounted with the given options, now and at boot. If it is mounted
 * with other options, it is remounted.
 *
 * @param name the mount point
 * @param device the device to mount: a path, `UUID=…`, `LABEL=…`, `host:/path`
 * @param fstype its type
 * @param mkmnt make the mount point
 * @param opts mount options
 * @param dump whether `dump` saves it
 * @param pass_num when `fsck` checks it
 * @param config the fstab
 * @param persist keep it in the fstab
 * @param mount false: only manage its fstab entry
 * @param user mount as this user, who owns a mount point that is made
 * @param match_on `auto`, or the fields that identify the fstab entry: `name`, `device`
 * @param device_name_regex other devices that may be mounted there: regular expressions
 * @param extra_mount_invisible_options options that are not seen once it is mounted
 * @param extra_mount_invisible_keys names of options with a value that are not compared
 * @param extra_mount_ignore_fs_keys options not to look at, by names, in a list by file system type
 * @param extra_mount_translate_options options that read otherwise once it is mounted, a dict
 * @param hidden_opts options that are not seen once it is mounted
 * @param bind_mount_copy_active_opts has no effect: a bind mount has the options of its source
 * @unknown ignored
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
    user = null,
    match_on = 'auto',
    device_name_regex = null,
    bind_mount_copy_active_opts: _copy = true,
    ...rules
  }: MountedOptions = {},
): Promise<StateReturn> => {
  const empty = Object.entries({ name, device, fstype }).find(([, value]) => !value);
  if (empty) return failed(name, `Must provide ${empty[0]} to mount.mounted`);
  const path = followLinks(name);
  const options = optionsOf(opts);
  const wish: Wish = { name, path, device, fstype, mkmnt, options, user };
  const active: Active = (await __salt__['mount.active']()) ?? {};
  const current = Object.hasOwn(active, path) ? active[path] : undefined;
  const ret = newReturn(name);
  const changed = changedOptions(options, current?.opts ?? [], fstype, rules);
  const done = !mount
    ? await leaveUnmounted(ret, wish, current !== undefined)
    : !current
      ? await mountNow(ret, wish)
      : isDevice(current.device, wish) || mayBe(current.device, device_name_regex)
        ? await remount(ret, wish, changed)
        : await replace(ret, wish, current.device);
  if (done.result === false || !persist) return done;
  // `remount` is passed to mount(8) now, but would make no sense at boot.
  const lasting = options.filter(option => option !== 'remount').join(',') || 'defaults';
  const kept = { opts: lasting, dump, pass_num, config, match_on, test: __opts__.test };
  return keep(done, name.replace(/(.)\/+$/, '$1'), device, fstype, kept);
};

/** Splits options: a string separated by commas, or a list of such strings; by default `defaults`. */
const optionsOf = (opts: string | string[]): string[] => {
  const options = [opts].flat().flatMap(each => String(each).split(','));
  const given = options.filter(option => option !== '');
  return given.length > 0 ? given : ['defaults'];
};

type Wish = {
  readonly name: string;
  readonly path: string;
  readonly device: string;
  readonly fstype: string;
  readonly mkmnt: boolean;
  readonly options: readonly string[];
  readonly user: string | null;
};

const mountNow = async (ret: StateReturn, wish: Wish): Promise<StateReturn> => {
  const { name, path, mkmnt } = wish;
  if (__opts__.test) {
    const comment = isDir(path)
      ? `${name} would be mounted`
      : mkmnt
        ? `${name} would be created and mounted`
        : `${name} does not exist and would not be created`;
    return { ...ret, result: null, changes: { mount: true }, comment };
  }
  if (!isDir(path) && !mkmnt) return failed(ret, 'Mount directory is not present');
  const out = await callMount(wish);
  return out === true
    ? {
        ...ret,
        changes: { ...ret.changes, mount: true },
        comment: 'Target was successfully mounted',
      }
    : failed(ret, String(out));
};

/** With `mount: false`, only creates the mount point, if `mkmnt` requests it. */
const leaveUnmounted = async (
  ret: StateReturn,
  { name, path, mkmnt, user }: Wish,
  isMounted: boolean,
): Promise<StateReturn> => {
  if (isMounted) return { ...ret, comment: 'Target was already mounted' };
  const { test } = __opts__;
  if (existsSync(path))
    return { ...ret, comment: test ? `${name} would not be mounted` : `${name} not mounted` };
  if (!mkmnt) {
    const planned = `${name} does not exist and would neither be created nor mounted`;
    return test
      ? { ...ret, result: null, comment: planned }
      : { ...ret, comment: `${name} not present and not mounted` };
  }
  const changes = { mkmnt: true };
  if (test)
    return { ...ret, changes, result: null, comment: `${name} would be created, but not mounted` };
  makeDirs(path, { user });
  return { ...ret, changes, comment: `${name} was created, not mounted` };
};

const callMount = ({ path, device, mkmnt, fstype, options, user }: Wish): Promise<true | string> =>
  __salt__['mount.mount'](path, device, mkmnt, fstype, options.join(','), { user });

/** Unmounts another device and mounts the desired one. */
const replace = async (ret: StateReturn, wish: Wish, current: string): Promise<StateReturn> => {
  const { path, device, user } = wish;
  const changes = {
    umount: `Forced unmount because devices don't match. Wanted: ${device}, current: ${current}`,
  };
  if (__opts__.test)
    return {
      ...ret,
      changes,
      result: null,
      comment: `An umount would have been forced because devices do not match.  Watched: ${device}`,
    };
  const out = await __salt__['mount.umount'](path, null, { user });
  return out === true
    ? mountNow({ ...ret, changes }, wish)
    : failed(ret, `Unable to unmount ${path}: ${out}.`);
};

/**
 * Whether options of file systems of this type change only when they are unmounted and mounted
 * again.
 */
const isStubborn = (fstype: string): boolean =>
  fstype === 'nfs' || fstype === 'cvfs' || fstype.startsWith('fuse');

const remount = async (
  ret: StateReturn,
  wish: Wish,
  changed: readonly string[],
): Promise<StateReturn> => {
  if (changed.length === 0) return { ...ret, comment: 'Target was already mounted' };
  const { path, device, fstype, mkmnt, options, user } = wish;
  const which = `options (${[...changed].sort().join(',')}) changed`;
  const anew = isStubborn(fstype);
  const how = anew ? 'Forced unmount and mount' : 'Forced remount';
  const changes = { umount: `${how} because ${which}` };
  if (__opts__.test)
    return {
      ...ret,
      changes,
      result: null,
      comment: `Remount would be forced because ${which}`,
    };
  const gone = anew ? await __salt__['mount.umount'](path, null, { user }) : true;
  if (gone !== true) return failed(ret, `Unable to unmount ${path}: ${gone}.`);
  const out = anew
    ? await callMount(wish)
    : await __salt__['mount.remount'](path, device, mkmnt, fstype, [...options], { user });
  return out === true
    ? { ...ret, changes, comment: 'Target was already mounted' }
    : failed(ret, `Unable to remount ${path}: ${out}`);
};

const keep = async (
  ret: StateReturn,
  path: string,
  device: string,
  fstype: string,
  options: Record<string, unknown> & { test: boolean },
): Promise<StateReturn> => {
  const status = await __salt__['mount.set_fstab'](path, device, fstype, options);
  if (status === 'present')
    return { ...ret, comment: `${ret.comment}. Entry already exists in the fstab.` };
  const changes = { ...ret.changes, persist: status === 'new' ? 'new' : 'update' };
  const done =
    status === 'new' ? 'Added new entry to the fstab.' : 'Updated the entry in the fstab.';
  return options.test
    ? {
        ...ret,
        changes,
        result: null,
        comment: `${ret.comment}. ${planned(ret, status === 'new')}`,
      }
    : { ...ret, changes, comment: `${ret.comment}. ${done}` };
};

/**
 * The comment of Salt on a pending change to the fstab, depending on whether the file system is
 * mounted.
 */
const planned = ({ name, comment }: StateReturn, isNew: boolean): string => {
  const isMounted = comment === 'Target was already mounted';
  if (isNew)
    return `${name} ${isMounted ? 'is mounted, but needs' : 'needs'} to be written to the fstab in order to be made persistent.`;
  return isMounted
    ? `${name} is mounted, but its fstab entry must be updated.`
    : `The ${name} fstab entry must be updated.`;
};

/** A bind mount is identified by the folder that it shows. */
const isDevice = (current: string, { path, device, options }: Wish): boolean =>
  options.includes('bind') || options.includes('rbind')
    ? isSameMountPoint(path, device)
    : isMountedDevice(current, device);

const mayBe = (current: string, patterns: string | string[] | null): boolean =>
  [patterns ?? []].flat().some(pattern => pythonRegex(`^(?:${pattern})`).test(current));
