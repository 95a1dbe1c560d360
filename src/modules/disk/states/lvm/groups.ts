import { existsSync, realpathSync } from '../../../_shared/safe-fs/fs.ts';
import { salt } from '../../../_shared/states/call.ts';
import { failOnError } from '../../../_shared/states/fail-on-error.ts';
import { changed, failed, inPlan, unchanged, would } from '../../../_shared/states/returns.ts';
import { toList } from '../../../_shared/states/values.ts';
import { __opts__, type Plain, type PlainDict, type StateReturn } from '../../../api.ts';

const isThere = async (name: string): Promise<boolean> =>
  Object.keys(await salt('lvm.vgdisplay')(name, { quiet: true })).length > 0;

/**
 * Makes sure that a volume group exists and contains these devices. Other devices in it are kept.
 *
 * @param name the group
 * @param devices its physical volumes, a list or a string separated by commas
 * @example
 * data:
 *   lvm.vg_present:
 *     - devices: [/dev/sdb1, /dev/sdc1]
 */
export const vg_present = async (
  name: string,
  { devices = null, ...options }: { devices?: Plain; [option: string]: unknown } = {},
): Promise<StateReturn> =>
  failOnError(name, async () => {
    if (await isThere(name)) return extended(name, toList(devices));
    if (__opts__.test)
      return would(
        name,
        `Volume Group ${name} is set to be created`,
        inPlan({ created: { [name]: toList(devices).join(', ') } }),
      );
    const created: PlainDict = await salt('lvm.vgcreate')(name, devices, options);
    return (await isThere(name))
      ? changed(name, `Created Volume Group ${name}`, { created })
      : failed(name, `Failed to create Volume Group ${name}`);
  });

/**
 * Returns the group of a physical volume: empty if it is in none, undefined if the device is not a
 * physical volume.
 */
const groupOf = async (device: string): Promise<string | undefined> => {
  const real = existsSync(device) ? realpathSync(device) : device;
  const found = (await salt('lvm.pvdisplay')(real, { real: true, quiet: true }))[real];
  const group: string | undefined = found?.['Volume Group Name'];
  return group === '#orphans_lvm2' ? '' : group;
};

const extended = async (name: string, devices: readonly string[]): Promise<StateReturn> => {
  const state = unchanged(name, '');
  const comments = [`Volume Group ${name} already present`];
  for (const device of devices) {
    const group = await groupOf(device);
    if (group === name) comments.push(`${device} is part of Volume Group`);
    else if (group === '' && __opts__.test) {
      comments.push(`${device} is set to be added to ${name}`);
      Object.assign(state.changes, inPlan({ [device]: `added to ${name}` }));
      if (state.result === true) state.result = null;
    } else if (group === '') {
      await salt('lvm.vgextend')(name, device);
      if ((await groupOf(device)) === name) state.changes[device] = `added to ${name}`;
      else {
        comments.push(`${device} could not be added`);
        state.result = false;
      }
    } else if (group === undefined && __opts__.test) {
      comments.push(`if ${device} is made a physical volume in this run, it is added to ${name}`);
      Object.assign(state.changes, inPlan({ [device]: `added to ${name}` }));
      if (state.result === true) state.result = null;
    } else {
      comments.push(
        group === undefined ? `pv ${device} is not present` : `${device} is part of ${group}`,
      );
      state.result = false;
    }
  }
  return { ...state, comment: comments.join('\n') };
};

/**
 * Makes sure that a volume group and its logical volumes do not exist.
 *
 * @param name the group
 * @example
 * data:
 *   lvm.vg_absent
 */
export const vg_absent = async (name: string): Promise<StateReturn> =>
  failOnError(name, async () => {
    if (!(await isThere(name))) return unchanged(name, `Volume Group ${name} already absent`);
    if (__opts__.test)
      return would(name, `Volume Group ${name} is set to be removed`, inPlan({ removed: name }));
    const removed: string = await salt('lvm.vgremove')(name);
    return (await isThere(name))
      ? failed(name, `Failed to remove Volume Group ${name}`)
      : changed(name, `Removed Volume Group ${name}`, { removed });
  });
