/**
 * Manages mounted file systems and fstab.
 *
 * @platform linux
 * @depends mount, umount
 */

import { runCommand } from '../../../_shared/commands/run-command.ts';
import { which } from '../../../_shared/commands/which.ts';
import { realPath } from '../../../_shared/files/file-paths.ts';
import { decodeFstabField } from '../../../_shared/files/fstab.ts';
import { makeDirs } from '../../../_shared/files/make-dirs.ts';
import { deviceAt, mountPointOf, readMounts } from '../../../_shared/files/mounts.ts';
import { readFileSync, statSync } from '../../../_shared/safe-fs/fs.ts';
import { withParent } from '../../../_shared/safe-fs/open-parent.ts';
import { salt } from '../../../_shared/states/call.ts';
import { CommandExecutionError, SaltInvocationError } from '../../../api.ts';

type Active = { device: string; alt_device: string; fstype: string; opts: string[] };
type Extended = Active & {
  mountid: string;
  parentid: string;
  major: string;
  minor: string;
  root: string;
  superopts: string[];
  device_uuid: string | null;
  device_label: string | null;
};

/**
 * Returns the mounted file systems by mount point.
 *
 * @param extended also the numbers of /proc/self/mountinfo, and UUID and label of devices
 * @example tsalt-ssh '*' mount.active
 */
export const active = async (
  extended = false,
): Promise<Record<string, Active> | Record<string, Extended>> =>
  extended
    ? activeExtended()
    : Object.fromEntries(
        readMounts().map(({ device, path, type, options }) => [
          path,
          { device, alt_device: device, fstype: type, opts: [...options] },
        ]),
      );

const activeExtended = async (): Promise<Record<string, Extended>> => {
  const devices: Record<string, Record<string, string>> = await salt('disk.blkid')();
  return Object.fromEntries(
    readFileSync('/proc/self/mountinfo', 'utf8')
      .split('\n')
      .filter(Boolean)
      .map(line => {
        const [place = '', source = ''] = line.split(' - ');
        const [mountid = '', parentid = '', number = '', root = '', path = '', opts = ''] = place
          .split(' ')
          .map(decodeFstabField);
        const [fstype = '', device = '', superopts = ''] = source.split(' ').map(decodeFstabField);
        const [major = '', minor = ''] = number.split(':');
        const known = devices[device];
        const facts: Extended = {
          mountid,
          parentid,
          major,
          minor,
          root,
          opts: opts.split(','),
          fstype,
          device,
          alt_device: device,
          superopts: superopts.split(','),
          device_uuid: known?.UUID?.toLowerCase() ?? null,
          device_label: known?.LABEL ?? null,
        };
        return [path, facts];
      }),
  );
};

/**
 * Whether something is mounted at a path.
 *
 * @param name the path
 * @example tsalt-ssh '*' mount.is_mounted /mnt/share
 */
export const is_mounted = async (name: string): Promise<boolean> => {
  const path = realPath(name);
  return readMounts().some(mount => mount.path === path);
};

/** `util` names a way to mount the image of a virtual machine. */
const onlyMount = (util: string): void => {
  if (util !== 'mount')
    throw new SaltInvocationError(
      `The argument "util" of mount functions takes "mount" only, not "${util}": images of virtual machines are not mounted.`,
    );
};

/**
 * Mounts a file system. Returns true, or the error message of `mount`.
 *
 * @param name the mount point
 * @param device the device to mount; by default, the one in fstab
 * @param mkmnt make the mount point
 * @param fstype its type
 * @param opts mount options, with commas or as a list
 * @param user mount as this user, who owns a mount point that is made
 * @param util `mount` is the only value
 * @example tsalt-ssh '*' mount.mount /mnt/foo /dev/sdz1 True
 */
export const mount = async (
  name: string,
  device: string | false = false,
  mkmnt = false,
  fstype = '',
  opts: string | string[] = 'defaults',
  { user = null, util = 'mount' }: { user?: string | null; util?: string } = {},
): Promise<true | string> => {
  onlyMount(util);
  if (mkmnt) makeDirs(name, { user });
  const options = [opts].flat().join(',');
  const how = [...(options ? ['-o', options] : []), ...(fstype ? ['-t', fstype] : [])];
  const argv = device ? [...how, '--', device, name] : ['--', name];
  const { code, stderr, stdout } = await runCommand(['mount', ...argv], {
    plainLocale: true,
    runas: user ?? undefined,
  });
  return code === 0 ? true : stderr.trim() || stdout.trim();
};

/**
 * Remounts a file system with other options. Returns true, or the error message of `mount`.
 *
 * @param name the mount point
 * @param device the mounted device
 * @param mkmnt make the mount point
 * @param fstype its type
 * @param opts mount options, with commas or as a list
 * @param user mount as this user
 * @example tsalt-ssh '*' mount.remount /mnt/foo /dev/sdz1 True
 */
export const remount = async (
  name: string,
  device: string,
  mkmnt = false,
  fstype = '',
  opts: string | string[] = 'defaults',
  { user = null }: { user?: string | null } = {},
): Promise<true | string> =>
  (await is_mounted(name))
    ? mount(name, device, false, fstype, ['remount', ...[opts].flat()], { user })
    : mount(name, device, mkmnt, fstype, opts, { user });

/**
 * Unmounts a file system. Returns true, or the error message of `umount`.
 *
 * @param name the mount point
 * @param device unmount this device
 * @param user as this user
 * @param util `mount` is the only value
 * @param lazy detach it now, clean up when nobody uses it
 * @example tsalt-ssh '*' mount.umount /mnt/foo
 */
export const umount = async (
  name: string,
  device: string | null = null,
  {
    user = null,
    util = 'mount',
    lazy = false,
  }: { user?: string | null; util?: string; lazy?: boolean } = {},
): Promise<true | string> => {
  onlyMount(util);
  if (!(await is_mounted(name))) return `${name} does not have anything mounted`;
  const { code, stderr } = await runCommand(
    ['umount', ...(lazy ? ['-l'] : []), '--', device ?? name],
    { plainLocale: true, runas: user ?? undefined },
  );
  return code === 0 ? true : stderr.trim();
};

/**
 * Returns the mount point of the file system that a path is on.
 *
 * @param path the path
 * @example tsalt-ssh '*' mount.get_mount_from_path /opt/some/nested/path
 */
export const get_mount_from_path = async (path: string): Promise<string> => mountPointOf(path);

/**
 * Returns the device that a path is on; null if there is none.
 *
 * @param path the path
 * @example tsalt-ssh '*' mount.get_device_from_path /
 */
export const get_device_from_path = async (path: string): Promise<string | null> =>
  deviceAt(path) ?? null;

/**
 * Whether a program is a file system in user space (uses libfuse).
 *
 * @param cmd the program
 * @example tsalt-ssh '*' mount.is_fuse_exec sshfs
 */
export const is_fuse_exec = async (cmd: string): Promise<boolean> => {
  const path = which(cmd);
  if (path === undefined) return false;
  if (which('ldd') === undefined) throw new CommandExecutionError('ldd is not installed.');
  const { stdout } = await runCommand(['ldd', path], { plainLocale: true, runas: keeperOf(path) });
  return stdout.includes('libfuse');
};

/**
 * Returns a user other than root who can change the program: old versions of `ldd` run it, so they
 * must not do that as root.
 */
const keeperOf = (path: string): number | undefined => {
  if (process.geteuid?.() !== 0) return undefined;
  return withParent(path, true, place => statSync(place.path).uid || place.owner || undefined);
};
