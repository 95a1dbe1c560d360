import { type CommandResult, runChecked } from '../_shared/commands/run-command.ts';
import { statSync } from '../_shared/safe-fs/fs.ts';
import { type Plain, SaltInvocationError } from '../api.ts';

const units = 's B kB MB MiB GB GiB TB TiB % cyl chs compact'.split(' ');
const partitionFlags =
  'boot root swap hidden raid lvm lba hp-service palo prep msftres bios_grub atvrecv diag legacy_boot msftdata irst esp type'.split(
    ' ',
  );
const diskFlags = ['cylinder_alignment', 'pmbr_boot', 'implicit_partition_table'];
const fileSystems =
  'btrfs ext2 ext3 ext4 fat fat32 fat16 linux-swap reiserfs hfs hfs+ hfsx NTFS ntfs ufs xfs'.split(
    ' ',
  );

/** The path of a block device. */
export const isBlockDevice = (device: string): boolean =>
  statSync(device, { throwIfNoEntry: false })?.isBlockDevice() === true;

export const needDevice = (device: string): string => {
  if (device.startsWith('/') && isBlockDevice(device)) return device;
  throw new SaltInvocationError(`${device} is not a block device on this host.`);
};

const oneOf =
  (what: string, known: readonly string[]) =>
  (value: string): string => {
    if (known.includes(value)) return value;
    throw new SaltInvocationError(`${value} is no ${what}: there are ${known.join(', ')}.`);
  };

export const needUnit: (value: string) => string = oneOf('unit of parted', units);
export const needFlag: (value: string) => string = oneOf('flag of a partition', partitionFlags);
export const needDiskFlag: (value: string) => string = oneOf('flag of a disk', diskFlags);
export const needFileSystem: (value: string) => string = oneOf(
  'file system for parted',
  fileSystems,
);
export const needLabel: (value: string) => string = oneOf(
  'partition table',
  'aix amiga bsd dvh gpt loop mac msdos pc98 sun'.split(' '),
);
export const needPartType: (value: string) => string = oneOf('type of partition', [
  'primary',
  'logical',
  'extended',
]);
export const needAlignment: (value: string) => string = oneOf('alignment', ['minimal', 'optimal']);

/** Returns `on` or `off`. YAML reads these words without quotes as true and false. */
export const needSwitch = (state: string | boolean): string =>
  typeof state === 'boolean'
    ? state
      ? 'on'
      : 'off'
    : oneOf('state of a flag', ['on', 'off'])(state);

export const needNumber = (minor: Plain): string => {
  if (/^[1-9]\d*$/.test(String(minor))) return String(minor);
  throw new SaltInvocationError(`${String(minor)} is not a partition number.`);
};

/**
 * Checks a position on a disk: a number, counted from the end if negative, optionally with one of
 * parted's units.
 */
export const requirePosition = (boundary: Plain): string => {
  const [, unit] = /^-?\d[\d.]*(\D*)$/.exec(String(boundary)) ?? [];
  if (unit !== undefined && (unit === '' || units.includes(unit))) return String(boundary);
  throw new SaltInvocationError(`Invalid partition boundary passed: "${String(boundary)}"`);
};

/** Runs parted without questions, for output that programs read. */
export const runParted = (...words: string[]): Promise<CommandResult> =>
  runChecked(['parted', '-m', '-s', '--', ...words], { plainLocale: true });

/** Runs a command and returns the lines that it printed. */
export const partedLines = async (result: Promise<CommandResult>): Promise<string[]> =>
  (await result).stdout.split('\n').filter(line => line !== '');
