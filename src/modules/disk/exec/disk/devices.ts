import { runCommand } from '../../../_shared/commands/run-command.ts';
import { which } from '../../../_shared/commands/which.ts';
import { deviceAt } from '../../../_shared/files/mounts.ts';
import { log, SaltInvocationError } from '../../../api.ts';

/** Returns a device as an argument: a name that begins with `-` would be an option. */
const plainDevice = (device: string): string => {
  if (String(device).startsWith('-')) throw new SaltInvocationError(`Not a device: ${device}`);
  return String(device);
};

const plain = { plainLocale: true, cwd: '/' } as const;

/**
 * Returns the attributes of block devices that `blkid` reports: UUID, TYPE, LABEL. Empty if there
 * are none.
 *
 * @param device one device
 * @param token only devices with this attribute: `UUID=6a38ee5-…`, `TYPE=ext4`
 * @example tsalt-ssh '*' disk.blkid token='TYPE=ext4'
 */
export const blkid = async (
  device: string | null = null,
  token: string | null = null,
): Promise<Record<string, Record<string, string>>> => {
  const which = device ? [plainDevice(device)] : token ? ['-t', token] : [];
  const { code, stdout } = await runCommand(['blkid', ...which], plain);
  if (code !== 0) return {};
  return Object.fromEntries(
    stdout
      .split('\n')
      .filter(Boolean)
      .map(line => {
        const end = line.indexOf(': ');
        const pairs = [...line.slice(end).matchAll(/([A-Z_]+)="([^"]*)"/g)];
        return [
          line.slice(0, end),
          Object.fromEntries(pairs.map(([, key = '', value = '']) => [key, value])),
        ];
      }),
  );
};

const facts = [
  'getro',
  'getsz',
  'getss',
  'getpbsz',
  'getiomin',
  'getioopt',
  'getalignoff',
  'getmaxsect',
  'getsize',
  'getsize64',
  'getra',
  'getfra',
] as const;

/**
 * Returns the settings that `blockdev` reports for a device: `getsize64`, `getra`, `getro` …; false
 * if it is not a block device.
 *
 * @param device the device
 * @param args only these
 * @example tsalt-ssh '*' disk.dump /dev/sda1
 */
export const dump = async (
  device: string,
  args: string[] | null = null,
): Promise<Record<string, string> | false> => {
  const odd = args?.find(name => !facts.some(fact => fact === name));
  if (odd !== undefined)
    throw new SaltInvocationError(
      `disk.dump cannot report ${odd}. Use one of: ${facts.join(', ')}`,
    );
  const wanted = args && args.length > 0 ? args : facts;
  const { code, stdout } = await runCommand(
    ['blockdev', ...wanted.map(name => `--${name}`), plainDevice(device)],
    plain,
  );
  if (code !== 0) return false;
  const lines = stdout.split('\n');
  return Object.fromEntries(wanted.map((name, at) => [name, lines[at] ?? '']));
};

/**
 * Changes settings of a block device with `blockdev` and returns the new values.
 *
 * @param device the device
 * @param read-ahead in units of 512 bytes
 * @param filesystem-read-ahead read-ahead of the file system, in units of 512 bytes
 * @param read-only true: make the device read-only
 * @param read-write true: make the device writable
 * @example tsalt-ssh '*' disk.tune /dev/sda1 read-ahead=1024 read-write=True
 */
export const tune = async (
  device: string,
  { ...settings }: { [setting: string]: number | string | boolean } = {},
): Promise<Record<string, string> | false> => {
  const known: Record<string, { set: string; get: string; takes: 'number' | 'true' }> = {
    'read-ahead': { set: 'setra', get: 'getra', takes: 'number' },
    'filesystem-read-ahead': { set: 'setfra', get: 'getfra', takes: 'number' },
    'read-only': { set: 'setro', get: 'getro', takes: 'true' },
    'read-write': { set: 'setrw', get: 'getro', takes: 'true' },
  };
  const flags: string[] = [];
  const asked: string[] = [];
  for (const [name, value] of Object.entries(settings)) {
    const setting = Object.hasOwn(known, name) ? known[name] : undefined;
    if (!setting)
      throw new SaltInvocationError(
        `disk.tune cannot set ${name}. Use one of: ${Object.keys(known).join(', ')}`,
      );
    asked.push(setting.get);
    if (setting.takes === 'number') flags.push(`--${setting.set}`, String(Number(value)));
    else if (String(value).toLowerCase() === 'true') flags.push(`--${setting.set}`);
  }
  if (flags.length > 0) {
    const { code, stderr } = await runCommand(['blockdev', ...flags, plainDevice(device)], plain);
    if (code !== 0) log.error(`blockdev: ${stderr.trim()}`);
  }
  return dump(device, asked);
};

/** Whether a program did its work on a device; what it says otherwise is logged. */
const succeeds = async (argv: readonly [string, ...string[]]): Promise<boolean> => {
  const { code, stderr } = await runCommand(argv, plain);
  if (code !== 0) log.error(`${argv[0]}: ${stderr.trim()}`);
  return code === 0;
};

/**
 * Removes all signatures of file systems, RAID and partition tables from a device.
 *
 * @param device the device
 * @example tsalt-ssh '*' disk.wipe /dev/sda1
 */
export const wipe = async (device: string): Promise<boolean> =>
  succeeds(['wipefs', '-a', plainDevice(device)]);

/**
 * Makes an ext file system as large as its device.
 *
 * @param device the device
 * @example tsalt-ssh '*' disk.resize2fs /dev/sda1
 */
export const resize2fs = async (device: string): Promise<boolean> =>
  succeeds(['resize2fs', plainDevice(device)]);

/**
 * Creates a file system on a device. All data on the device is lost.
 *
 * @param device the device
 * @param fs_type its type
 * @param inode_size bytes per inode of ext, size of an inode of xfs
 * @param lazy_itable_init ext: leave the tables of inodes to the kernel, at the first mount
 * @param fat 12, 16 or 32, for fat and vfat
 * @param force also if the device is not a partition or already has a file system
 * @example tsalt-ssh '*' disk.format /dev/sdX1 ext4
 */
export const format = async (
  device: string,
  fs_type = 'ext4',
  {
    inode_size = null,
    lazy_itable_init = null,
    fat = null,
    force = false,
  }: {
    inode_size?: number | null;
    lazy_itable_init?: number | boolean | null;
    fat?: number | null;
    force?: boolean;
  } = {},
): Promise<boolean> => {
  if (!/^[a-z0-9][a-z0-9._-]*$/i.test(fs_type))
    throw new SaltInvocationError(`Not a type of file system: ${fs_type}`);
  const isExt = fs_type.startsWith('ext');
  const flags: string[] = [];
  if (inode_size !== null && isExt) flags.push('-i', String(inode_size));
  if (inode_size !== null && fs_type === 'xfs') flags.push('-i', `size=${inode_size}`);
  if (lazy_itable_init !== null && isExt)
    flags.push('-E', `lazy_itable_init=${Number(lazy_itable_init)}`);
  if (fat !== null && fs_type.endsWith('fat')) {
    if (![12, 16, 32].includes(Number(fat)))
      throw new SaltInvocationError(`fat must be 12, 16 or 32, not ${fat}`);
    flags.push('-F', String(fat));
  }
  if (force && isExt) flags.push('-F');
  if (force && fs_type === 'xfs') flags.push('-f');
  return (
    (await succeeds(['mkfs', '-t', fs_type, ...flags, plainDevice(device)])) &&
    (await succeeds(['sync']))
  );
};

/**
 * Returns the type of the file system on a device; '' if it is unknown.
 *
 * @param device the device
 * @example tsalt-ssh '*' disk.fstype /dev/sdX1
 */
export const fstype = async (device: string): Promise<string> => {
  if (which('lsblk')) {
    const { stdout } = await runCommand(
      ['lsblk', '-dno', 'FSTYPE', '--', plainDevice(device)],
      plain,
    );
    if (stdout.trim() !== '') return stdout.trim();
  }
  const { code, stdout } = await runCommand(['df', '-PT', '--', plainDevice(device)], plain);
  return code === 0 ? (/^\S+\s+(\S+)/.exec(stdout.split('\n')[1] ?? '')?.[1] ?? '') : '';
};

/**
 * Returns the type of the file system that a path is on.
 *
 * @param path the path
 * @example tsalt-ssh '*' disk.get_fstype_from_path /root
 */
export const get_fstype_from_path = async (path: string): Promise<string> => {
  const device = deviceAt(path);
  return device === undefined ? '' : fstype(device);
};
