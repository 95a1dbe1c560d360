import { existsSync } from '../../../_shared/safe-fs/fs.ts';
import { toList } from '../../../_shared/states/values.ts';
import { CommandExecutionError, type Plain, SaltInvocationError } from '../../../api.ts';
import { changeLvm, lvmOptions } from '../../lvm.ts';
import { pvdisplay } from './facts.ts';

const createOptions = [
  'metadatasize',
  'dataalignment',
  'dataalignmentoffset',
  'pvmetadatacopies',
  'metadatacopies',
  'metadataignore',
  'restorefile',
  'labelsector',
  'setphysicalvolumesize',
];

const isVolume = async (device: string): Promise<boolean> =>
  Object.keys(await pvdisplay(device, { quiet: true })).length > 0;

const answers = (force: boolean): string => (force ? '--yes' : '-qq');

/**
 * Makes devices physical volumes. Further arguments are options of `pvcreate`.
 *
 * @param devices one, or several as a list or separated by commas
 * @param override false: fail when one is a physical volume already
 * @param force false: do not answer questions with yes
 * @example tsalt-ssh '*' lvm.pvcreate /dev/sdb1,/dev/sdb2
 */
export const pvcreate = async (
  devices: Plain,
  {
    override = true,
    force = true,
    ...options
  }: { override?: boolean; force?: boolean; [option: string]: unknown } = {},
): Promise<boolean> => {
  const extra = lvmOptions(options, createOptions, ['norestorefile']);
  const due = await dueDevices(devices, override, false);
  if (due.length > 0) await changeLvm('pvcreate', answers(force), ...extra, '--', ...due);
  return true;
};

/**
 * Returns the devices that are (or are not) physical volumes; without `override`, fails unless all
 * are.
 */
const dueDevices = async (
  devices: Plain,
  override: boolean,
  volumes: boolean,
): Promise<string[]> => {
  const names = toList(devices);
  if (names.length === 0) throw new SaltInvocationError('Error: at least one device is required');
  const due: string[] = [];
  for (const name of names) {
    if (!volumes && !existsSync(name)) throw new CommandExecutionError(`${name} does not exist`);
    if ((await isVolume(name)) === volumes) due.push(name);
    else if (!override)
      throw new CommandExecutionError(
        volumes
          ? `${name} is not a physical volume`
          : `Device "${name}" is already an LVM physical volume.`,
      );
  }
  return due;
};

/**
 * Removes the physical volume labels from devices.
 *
 * @param devices one, or several as a list or separated by commas
 * @param override false: fail if one is not a physical volume
 * @param force false: do not answer questions with yes
 * @example tsalt-ssh '*' lvm.pvremove /dev/sdb1,/dev/sdb2
 */
export const pvremove = async (
  devices: Plain,
  { override = true, force = true }: { override?: boolean; force?: boolean } = {},
): Promise<boolean> => {
  const due = await dueDevices(devices, override, true);
  if (due.length > 0) await changeLvm('pvremove', answers(force), '--', ...due);
  return true;
};

/**
 * Resizes physical volumes to the current size of their devices.
 *
 * @param devices one, or several as a list or separated by commas
 * @param override false: fail if one is not a physical volume
 * @param force false: do not answer questions with yes
 * @example tsalt-ssh '*' lvm.pvresize /dev/sdb1
 */
export const pvresize = async (
  devices: Plain,
  { override = true, force = true }: { override?: boolean; force?: boolean } = {},
): Promise<boolean> => {
  const due = await dueDevices(devices, override, true);
  if (due.length > 0) await changeLvm('pvresize', answers(force), '--', ...due);
  return true;
};
