import { realPath } from '../../../_shared/files/file-paths.ts';
import { isMountedDevice, isSameMountPoint } from '../../../_shared/files/mounts.ts';
import { failed, newReturn } from '../../../_shared/states/returns.ts';
import { __opts__, __salt__, type StateReturn } from '../../../api.ts';
import type { Active } from '../../mount-options.ts';

/**
 * Makes sure that nothing is mounted at a path.
 *
 * @param name the mount point
 * @param device unmount only this device
 * @param config the fstab
 * @param persist also remove it from the fstab
 * @param user run umount as this user
 * @unknown ignored
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
    user = null,
  }: { device?: string | null; config?: string; persist?: boolean; user?: string | null } = {},
): Promise<StateReturn> => {
  const ret = newReturn(name);
  if (!name) return failed(ret, 'Must provide name to mount.unmounted');
  const comments: string[] = [];
  const path = realPath(name);
  const active: Active = (await __salt__['mount.active']?.()) ?? {};
  const isMounted = Object.hasOwn(active, path);
  const current = isMounted ? active[path]?.device : undefined;
  if (current !== undefined && device !== null && !isShown(current, device, path))
    return failed(ret, `${current} is mounted on ${name}, not ${device}: left as it is.`);
  if (!isMounted) comments.push('Target was already unmounted');
  else if (__opts__.test) {
    ret.result = null;
    ret.changes.umount = true;
    comments.push(`Mount point ${name} is mounted but should not be`);
  } else {
    const out = await __salt__['mount.umount'](path, null, { user });
    if (out !== true) return failed(ret, String(out));
    ret.changes.umount = true;
    comments.push('Target was successfully unmounted');
  }
  if (persist) {
    const entries: Active = await __salt__['mount.fstab']?.(config);
    const entry = entries[name];
    if (!entry) comments.push('fstab entry not found');
    else if (device !== null && entry.device !== device)
      comments.push(`fstab entry for device ${device} not found`);
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

/** A bind mount shows a folder. */
const isShown = (current: string, device: string, path: string): boolean =>
  isMountedDevice(current, device) || isSameMountPoint(path, device);
