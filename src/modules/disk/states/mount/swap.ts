import { messageOf } from '../../../../protocol/error.ts';
import { realPath } from '../../../_shared/files/file-paths.ts';
import { failed, newReturn } from '../../../_shared/states/returns.ts';
import { __opts__, __salt__, type StateReturn } from '../../../api.ts';

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
  const device = realPath(name);
  if (!Object.hasOwn(active, device)) {
    ret.changes.swap = 'active';
    comment = test ? `Swap ${name} is set to be activated` : `Swap ${name} activated`;
    if (test) ret.result = null;
    else
      try {
        await __salt__['mount.swapon']?.(device);
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
