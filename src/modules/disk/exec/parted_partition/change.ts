import { runChecked } from '../../../_shared/commands/run-command.ts';
import { type Plain, SaltInvocationError } from '../../../api.ts';
import {
  needDevice,
  needDiskFlag,
  needFileSystem,
  needFlag,
  needLabel,
  needNumber,
  needPartType,
  needSwitch,
  partedLines,
  requirePosition,
  runParted,
} from '../../parted.ts';
import { system_types } from './table.ts';

export const __virtualname__ = 'partition';
export const __func_alias__ = { set_: 'set' };

/**
 * Creates a new, empty partition table on a disk. All data on the disk is lost.
 *
 * @param device the disk
 * @param label_type `gpt`, `msdos`, `loop` …
 * @example tsalt-ssh '*' partition.mklabel /dev/sdb gpt
 */
export const mklabel = (device: string, label_type: string): Promise<string[]> =>
  partedLines(runParted(needDevice(device), 'mklabel', needLabel(label_type)));

/**
 * Creates a partition. Returns the output of parted, which is usually empty.
 *
 * @param device the disk
 * @param part_type `primary`, `logical` or `extended`; the name of the partition in a GPT
 * @param fs_type the intended file system: `ext4`, `fat32`, `linux-swap` …; it is not created
 * @param start its start, in megabytes or with a unit: `1MiB`, `0%`
 * @param end its end
 * @example tsalt-ssh '*' partition.mkpart /dev/sdb primary fs_type=ext4 start=1MiB end=100%
 */
export const mkpart = (
  device: string,
  part_type: string,
  fs_type: string | null = null,
  start: Plain = null,
  end: Plain = null,
): Promise<string[]> => {
  const places = [start, end].filter(place => place !== null).map(requirePosition);
  const type = fs_type ? [needFileSystem(fs_type)] : [];
  return partedLines(
    runParted(needDevice(device), 'mkpart', needPartType(part_type), ...type, ...places),
  );
};

/** Alias of `partition.mkpart`. */
export const mkpartfs = mkpart;

/**
 * Makes a file system on a partition: what was on it is lost.
 *
 * @param device the partition
 * @param fs_type `ext4`, `fat32`, `linux-swap` …
 * @example tsalt-ssh '*' partition.mkfs /dev/sdb2 ext4
 */
export const mkfs = (device: string, fs_type: string): Promise<string[]> => {
  const type = needFileSystem(fs_type).replace('NTFS', 'ntfs');
  const bits = /^fat(16|32)$/.exec(type)?.[1];
  const words: [string, ...string[]] =
    type === 'linux-swap' ? ['mkswap'] : bits ? ['mkfs.fat', '-F', bits] : [`mkfs.${type}`];
  return partedLines(runChecked([...words, needDevice(device)], { plainLocale: true }));
};

/**
 * Sets the name of a partition, in a GPT or Apple partition table.
 *
 * @param device the disk
 * @param partition its number
 * @param name letters, digits, spaces, `_` and `-`
 * @example tsalt-ssh '*' partition.name /dev/sda 1 'My Documents'
 */
export const name = (device: string, partition: Plain, name: string): Promise<string[]> => {
  if (!/^[A-Za-z0-9 _-]*$/.test(name))
    throw new SaltInvocationError(`"${name}" cannot be the name of a partition.`);
  // parted splits its arguments into words again.
  return partedLines(runParted(needDevice(device), 'name', needNumber(partition), `'${name}'`));
};

/**
 * Searches for a lost partition between two positions and adds it to the table.
 *
 * @param device the disk
 * @param start in megabytes or with a unit
 * @param end in megabytes or with a unit
 * @example tsalt-ssh '*' partition.rescue /dev/sda 0 8056
 */
export const rescue = (device: string, start: Plain, end: Plain): Promise<string[]> =>
  partedLines(
    runParted(needDevice(device), 'rescue', requirePosition(start), requirePosition(end)),
  );

/**
 * Moves the end of a partition. It stays where it begins: no parted of today moves that.
 *
 * @param device the disk
 * @param minor its number
 * @param start its start; ignored
 * @param end its new end, in megabytes or with a unit
 * @example tsalt-ssh '*' partition.resize /dev/sda 3 200 850
 */
export const resize = (
  device: string,
  minor: Plain,
  start: Plain,
  end: Plain,
): Promise<string[]> => {
  requirePosition(start);
  return partedLines(
    runParted(needDevice(device), 'resizepart', needNumber(minor), requirePosition(end)),
  );
};

/**
 * Removes a partition from the table.
 *
 * @param device the disk
 * @param minor its number
 * @example tsalt-ssh '*' partition.rm /dev/sda 5
 */
export const rm = (device: string, minor: Plain): Promise<string[]> =>
  partedLines(runParted(needDevice(device), 'rm', needNumber(minor)));

/**
 * Sets a flag of a partition.
 *
 * @param device the disk
 * @param minor its number
 * @param flag `boot`, `lvm`, `raid`, `esp` …
 * @param state `on` or `off`
 * @example tsalt-ssh '*' partition.set /dev/sda 1 boot on
 */
export const set_ = (
  device: string,
  minor: Plain,
  flag: string,
  state: string | boolean,
): Promise<string[]> =>
  partedLines(
    runParted(needDevice(device), 'set', needNumber(minor), needFlag(flag), needSwitch(state)),
  );

/**
 * Sets a flag of a partition that is not set, and the other way round.
 *
 * @param device the disk
 * @param partition its number
 * @param flag `boot`, `lvm`, `raid`, `esp` …
 * @example tsalt-ssh '*' partition.toggle /dev/sda 1 boot
 */
export const toggle = (device: string, partition: Plain, flag: string): Promise<string[]> =>
  partedLines(runParted(needDevice(device), 'toggle', needNumber(partition), needFlag(flag)));

/**
 * Sets a flag of a disk.
 *
 * @param device the disk
 * @param flag `pmbr_boot`, `cylinder_alignment` or `implicit_partition_table`
 * @param state `on` or `off`
 * @example tsalt-ssh '*' partition.disk_set /dev/sda pmbr_boot on
 */
export const disk_set = (
  device: string,
  flag: string,
  state: string | boolean,
): Promise<string[]> =>
  partedLines(runParted(needDevice(device), 'disk_set', needDiskFlag(flag), needSwitch(state)));

/**
 * Sets a flag of a disk that is not set, and the other way round.
 *
 * @param device the disk
 * @param flag `pmbr_boot`, `cylinder_alignment` or `implicit_partition_table`
 * @example tsalt-ssh '*' partition.disk_toggle /dev/sda pmbr_boot
 */
export const disk_toggle = (device: string, flag: string): Promise<string[]> =>
  partedLines(runParted(needDevice(device), 'disk_toggle', needDiskFlag(flag)));

/**
 * Sets the type of a partition in a DOS partition table.
 *
 * @param device the disk
 * @param minor its number
 * @param system_id `83` Linux, `82` swap, `8e` LVM, `fd` RAID; `partition.system_types` lists all
 * @example tsalt-ssh '*' partition.set_id /dev/sda 1 83
 */
export const set_id = async (
  device: string,
  minor: Plain,
  system_id: string,
): Promise<string[]> => {
  const words = [needDevice(device), needNumber(minor), system_id];
  if (!Object.hasOwn(await system_types(), system_id))
    throw new SaltInvocationError(`sfdisk knows no type ${system_id}.`);
  return partedLines(runChecked(['sfdisk', '--part-type', ...words], { plainLocale: true }));
};

const gone = (fun: string): never => {
  throw new SaltInvocationError(
    `${fun} is not supported: parted 3.0 lost this command, use the tools of the file system.`,
  );
};

/** Not supported: parted checks no file systems since version 3.0. */
export const check = async (_device: string, _minor: Plain): Promise<never> =>
  gone('partition.check');

/** Not supported: parted copies no file systems since version 3.0. */
export const cp = async (_device: string, _from_minor: Plain, _to_minor: Plain): Promise<never> =>
  gone('partition.cp');
