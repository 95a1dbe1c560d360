/**
 * Manages volumes of the Logical Volume Manager.
 *
 * Further arguments of `pv_present`, `vg_present` and `lv_present` are options of `pvcreate`,
 * `vgcreate` and `lvcreate`, without the dashes.
 */

import { hasFunction, salt } from '../../../_shared/states/call.ts';
import { ensure, type PlainDict, type StateReturn } from '../../../api.ts';

export const __virtual__ = (): true | [false, string] =>
  hasFunction('lvm.pvdisplay') || [false, 'The command lvm is not there: install lvm2.'];

const isVolume = async (name: string): Promise<boolean> =>
  Object.keys(await salt('lvm.pvdisplay')(name, { quiet: true })).length > 0;

/**
 * Makes sure that a device is a physical volume.
 *
 * @param name the device
 * @example
 * /dev/sdb1:
 *   lvm.pv_present
 */
export const pv_present = async (
  name: string,
  options: { [option: string]: unknown } = {},
): Promise<StateReturn> =>
  ensure(name, {
    read: () => isVolume(name),
    plan: isThere =>
      isThere
        ? `Physical Volume ${name} already present`
        : {
            would: `Physical Volume ${name} is set to be created`,
            done: `Created Physical Volume ${name}`,
            failed: `Failed to create Physical Volume ${name}`,
            changes: {},
          },
    apply: async () => ({ created: await salt('lvm.pvcreate')(name, options) }),
    verify: isThere => isThere,
    changes: (_before, _after, created) => created as PlainDict,
  });

/**
 * Makes sure that a device is not a physical volume.
 *
 * @param name the device
 * @example
 * /dev/sdb1:
 *   lvm.pv_absent
 */
export const pv_absent = async (name: string): Promise<StateReturn> =>
  ensure(name, {
    read: () => isVolume(name),
    plan: isThere =>
      isThere
        ? {
            would: `Physical Volume ${name} is set to be removed`,
            done: `Removed Physical Volume ${name}`,
            failed: `Failed to remove Physical Volume ${name}`,
            changes: {},
          }
        : `Physical Volume ${name} does not exist`,
    apply: async () => ({ removed: await salt('lvm.pvremove')(name) }),
    verify: isThere => !isThere,
    changes: (_before, _after, removed) => removed as PlainDict,
  });
