/**
 * Manages volumes of the Logical Volume Manager. Also available as `lvm`.
 *
 * @platform linux
 * @depends lvm2
 */

import { which } from '../../../_shared/commands/which.ts';
import { realpathSync } from '../../../_shared/safe-fs/fs.ts';
import { displayLvm, runLvm, type Volumes } from '../../lvm.ts';

export const __virtualname__ = 'lvm';

export const __virtual__ = (): string | [false, string] =>
  which('lvm') ? __virtualname__ : [false, 'The command lvm is not there: install lvm2.'];

/**
 * Returns the version of LVM.
 *
 * @example tsalt-ssh '*' lvm.version
 */
export const version = async (): Promise<string> => (await fullversion())['LVM version'] ?? '';

/**
 * Returns everything that `lvm version` reports.
 *
 * @example tsalt-ssh '*' lvm.fullversion
 */
export const fullversion = async (): Promise<{ [what: string]: string }> => {
  const { stdout } = await runLvm('lvm', 'version');
  return Object.fromEntries(
    stdout.split('\n').flatMap(line => {
      const [name = '', value] = line.split(/:(.*)/);
      return value === undefined ? [] : [[name.trim(), value.trim()]];
    }),
  );
};

const physicalFields = [
  'Physical Volume Device',
  'Volume Group Name',
  'Physical Volume Size (kB)',
  'Internal Physical Volume Number',
  'Physical Volume Status',
  'Physical Volume (not) Allocatable',
  'Current Logical Volumes Here',
  'Physical Extent Size (kB)',
  'Total Physical Extents',
  'Free Physical Extents',
  'Allocated Physical Extents',
];

/**
 * Returns physical volumes by device.
 *
 * @param pvname this device only
 * @param real true: list devices by the target of their link
 * @param quiet true: do not log an error if the device is not a physical volume
 * @example tsalt-ssh '*' lvm.pvdisplay /dev/sdb1
 */
export const pvdisplay = async (
  pvname = '',
  { real = false, quiet = false }: { real?: boolean; quiet?: boolean } = {},
): Promise<Volumes> => {
  const volumes = await displayLvm('pvdisplay', pvname, physicalFields, quiet);
  if (!real) return volumes;
  return Object.fromEntries(
    Object.entries(volumes).map(([device, fields]) => {
      const target = realPath(device);
      return [target, { ...fields, 'Real Physical Volume Device': target }];
    }),
  );
};

const realPath = (device: string): string => {
  try {
    return realpathSync(device);
  } catch {
    return device;
  }
};

const groupFields = [
  'Volume Group Name',
  'Volume Group Access',
  'Volume Group Status',
  'Internal Volume Group Number',
  'Maximum Logical Volumes',
  'Current Logical Volumes',
  'Open Logical Volumes',
  'Maximum Logical Volume Size',
  'Maximum Physical Volumes',
  'Current Physical Volumes',
  'Actual Physical Volumes',
  'Volume Group Size (kB)',
  'Physical Extent Size (kB)',
  'Total Physical Extents',
  'Allocated Physical Extents',
  'Free Physical Extents',
  'UUID',
];

/**
 * Returns volume groups by name.
 *
 * @param vgname this group only
 * @param quiet true: do not log an error if the group does not exist
 * @example tsalt-ssh '*' lvm.vgdisplay data
 */
export const vgdisplay = async (
  vgname = '',
  { quiet = false }: { quiet?: boolean } = {},
): Promise<Volumes> => displayLvm('vgdisplay', vgname, groupFields, quiet);

const logicalFields = [
  'Logical Volume Name',
  'Volume Group Name',
  'Logical Volume Access',
  'Logical Volume Status',
  'Internal Logical Volume Number',
  'Open Logical Volumes',
  'Logical Volume Size',
  'Current Logical Extents Associated',
  'Allocated Logical Extents',
  'Allocation Policy',
  'Read Ahead Sectors',
  'Major Device Number',
  'Minor Device Number',
];

/**
 * Returns logical volumes by path.
 *
 * @param lvname this volume only, by its path
 * @param quiet true: do not log an error if the volume does not exist
 * @example tsalt-ssh '*' lvm.lvdisplay /dev/data/www
 */
export const lvdisplay = async (
  lvname = '',
  { quiet = false }: { quiet?: boolean } = {},
): Promise<Volumes> => displayLvm('lvdisplay', lvname, logicalFields, quiet);
