/**
 * Manages partitions of disks. Also available as `partition`.
 *
 * @platform linux
 * @depends parted, partprobe, lsblk
 */

import { runChecked, runCommand } from '../../../_shared/commands/run-command.ts';
import { which } from '../../../_shared/commands/which.ts';
import { CommandExecutionError, type Plain } from '../../../api.ts';
import {
  isBlockDevice,
  needAlignment,
  needDevice,
  needNumber,
  needUnit,
  partedLines,
  runParted,
} from '../../parted.ts';

export const __virtualname__ = 'partition';
export const __func_alias__ = { list_: 'list' };

export const __virtual__ = (): string | [false, string] => {
  const missing = ['parted', 'lsblk', 'partprobe'].filter(program => !which(program));
  return missing.length === 0
    ? __virtualname__
    : [false, `not installed: ${missing.join(', ')} (packages parted and util-linux).`];
};

type Row = { [field: string]: string };

/**
 * Returns the partitions of a disk by number, and the properties of the disk.
 *
 * @param device the disk
 * @param unit unit of sizes and positions: `s`, `B`, `kB`, `MiB`, `%` …; by default, chosen by parted
 * @example tsalt-ssh '*' partition.list /dev/sda unit=s
 */
export const list_ = async (
  device: string,
  unit: string | null = null,
): Promise<{ info: Row; partitions: { [number: string]: Row } }> => {
  const how = unit ? ['unit', needUnit(unit)] : [];
  const lines = await partedLines(runParted(needDevice(device), ...how, 'print'));
  const [disk = '', ...parts] = lines.filter(line => !/^(?:BYT|CHS|CYL);$/.test(line));
  // With units of cylinders, the second line contains the geometry.
  const rows = (unit === 'chs' || unit === 'cyl' ? parts.slice(1) : parts).map(line =>
    partition(line, unit === 'chs'),
  );
  return {
    info: named(disk, infoFields),
    partitions: Object.fromEntries(rows.map(row => [row.number ?? '', row])),
  };
};

const infoFields = [
  'disk',
  'size',
  'interface',
  'logical sector',
  'physical sector',
  'partition table',
  'model',
  'disk flags',
];

const partition = (line: string, withoutSize: boolean): Row => {
  const places = ['number', 'start', 'end', ...(withoutSize ? [] : ['size'])];
  return line.endsWith(':free;')
    ? named(line.replace(/:free;$/, ''), places)
    : named(line, [...places, 'file system', 'name', 'flags']);
};

const named = (line: string, fields: readonly string[]): Row => {
  // A colon in a name is escaped with a backslash.
  const values = [...`${line.replace(/;+$/, '')}:`.matchAll(/((?:[^:\\]|\\.)*):/g)].map(
    ([, value = '']) => value.replace(/\\(.)/g, '$1'),
  );
  // Old versions of parted do not print the disk's flags.
  if (values.length !== fields.length && !(fields === infoFields && values.length === 7))
    throw new CommandExecutionError(`Unexpected output of parted: ${line}`);
  return Object.fromEntries(values.map((value, at) => [fields[at] ?? '', value]));
};

/**
 * Whether this is a block device of the host.
 *
 * @param device its path
 * @example tsalt-ssh '*' partition.exists /dev/sdb1
 */
export const exists = async (device = ''): Promise<boolean> => isBlockDevice(device);

/**
 * Returns the names of the disks, without RAM disks, loop devices and CD drives.
 *
 * @example tsalt-ssh '*' partition.get_block_device
 */
export const get_block_device = async (): Promise<string[]> => {
  // It fails if there is none.
  const { stdout } = await runCommand(
    ['lsblk', '-n', '-i', '-o', 'KNAME', '-d', '-e', '1,7,11', '-l'],
    { plainLocale: true },
  );
  return stdout.split('\n').filter(Boolean);
};

/**
 * Makes the kernel reread the partition tables of disks.
 *
 * @param devices the disks; all when none is given
 * @example tsalt-ssh '*' partition.probe /dev/sda /dev/sdb
 */
export const probe = (...devices: string[]): Promise<string[]> =>
  partedLines(runChecked(['partprobe', '--', ...devices.map(needDevice)], { plainLocale: true }));

/**
 * Whether a partition begins where the disk likes it: what parted says, `1 aligned` or
 * `1 not aligned`.
 *
 * @param device the disk
 * @param part_type `minimal` or `optimal`
 * @param partition its number
 * @example tsalt-ssh '*' partition.align_check /dev/sda minimal 1
 */
export const align_check = async (
  device: string,
  part_type: string,
  partition: number,
): Promise<string[]> => {
  const question = ['align-check', needAlignment(part_type), needNumber(partition)];
  const { stdout, stderr } = await runCommand(
    ['parted', '-m', '--', needDevice(device), ...question],
    { plainLocale: true },
  );
  const lines = stdout.split('\n').filter(Boolean);
  // In script mode it prints nothing, and its exit status is the same for "not aligned" and
  // "failed".
  if (lines.some(line => /^\d+ (?:not )?aligned/.test(line))) return lines;
  throw new CommandExecutionError(`parted failed: ${stderr.trim() || stdout.trim()}`);
};

/**
 * Returns the type of a partition in the partition table: `83` or a UUID.
 *
 * @param device the disk
 * @param minor its number
 * @example tsalt-ssh '*' partition.get_id /dev/sda 1
 */
export const get_id = (device: string, minor: Plain): Promise<string[]> =>
  partedLines(
    runChecked(['sfdisk', '--part-type', needDevice(device), needNumber(minor)], {
      plainLocale: true,
    }),
  );

/**
 * Returns the types that a partition in a DOS partition table may have, by number.
 *
 * @example tsalt-ssh '*' partition.system_types
 */
export const system_types = async (): Promise<{ [id: string]: string }> => {
  const { stdout } = await runChecked(['sfdisk', '-T'], { plainLocale: true });
  return Object.fromEntries(
    stdout
      .split('\n')
      .filter(line => line !== '' && !line.startsWith('Id'))
      .map(line => line.trim().split(/\s+/))
      .map(([id = '', name = '']) => [id, name]),
  );
};
