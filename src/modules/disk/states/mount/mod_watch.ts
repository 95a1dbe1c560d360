import { failed, newReturn } from '../../../_shared/states/returns.ts';
import { __salt__, type StateReturn } from '../../../api.ts';

type WatchOptions = {
  sfun?: string | null;
  device?: string;
  fstype?: string;
  opts?: string | string[];
  user?: string | null;
};

/**
 * Remounts a file system when a watched state changed.
 *
 * @param name the mount point
 * @param sfun the function that watches
 * @param device the mounted device
 * @param fstype its type
 * @param opts mount options
 * @param user mount as this user
 *
 * @example called by the engine
 */
export const mod_watch = async (
  name: string,
  { sfun = null, device = '', fstype = '', opts = 'defaults', user = null }: WatchOptions = {},
): Promise<StateReturn> => {
  const ret = newReturn(name);
  if (sfun !== 'mounted') return { ...ret, comment: `Watch not supported in ${sfun} at this time` };
  const out = await __salt__['mount.remount'](name, device, false, fstype, opts, { user });
  return out === true
    ? { ...ret, changes: { mount: true }, comment: `${name} remounted` }
    : failed(ret, `${name} failed to remount: ${out}`);
};
