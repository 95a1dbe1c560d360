/**
 * Manages volumes of the Logical Volume Manager.
 *
 * Further arguments of `pv_present`, `vg_present` and `lv_present` are options of `pvcreate`,
 * `vgcreate` and `lvcreate`, without the dashes.
 */

import { hasFunction, salt } from '../../../_shared/states/call.ts';
import { failOnError } from '../../../_shared/states/fail-on-error.ts';
import { changed, failed, unchanged, would } from '../../../_shared/states/returns.ts';
import { __opts__, type StateReturn } from '../../../api.ts';

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
  failOnError(name, async () => {
    if (await isVolume(name)) return unchanged(name, `Physical Volume ${name} already present`);
    if (__opts__.test) return would(name, `Physical Volume ${name} is set to be created`);
    const created = await salt('lvm.pvcreate')(name, options);
    return (await isVolume(name))
      ? changed(name, `Created Physical Volume ${name}`, { created })
      : failed(name, `Failed to create Physical Volume ${name}`);
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
  failOnError(name, async () => {
    if (!(await isVolume(name))) return unchanged(name, `Physical Volume ${name} does not exist`);
    if (__opts__.test) return would(name, `Physical Volume ${name} is set to be removed`);
    const removed = await salt('lvm.pvremove')(name);
    return (await isVolume(name))
      ? failed(name, `Failed to remove Physical Volume ${name}`)
      : changed(name, `Removed Physical Volume ${name}`, { removed });
  });
