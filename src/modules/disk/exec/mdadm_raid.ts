/**
 * Manages software RAID with mdadm. Also available as `raid`.
 *
 * @platform linux
 * @depends mdadm
 */

import { runChecked, runCommand } from '../../_shared/commands/run-command.ts';
import { which } from '../../_shared/commands/which.ts';
import { readOr } from '../../_shared/files/read-file.ts';
import { replaceFile } from '../../_shared/files/write-file.ts';
import { existsSync } from '../../_shared/safe-fs/fs.ts';
import { toList } from '../../_shared/states/values.ts';
import { quoteArg } from '../../_shared/text/command-args.ts';
import { plainStr } from '../../_shared/text/python-text.ts';
import { __grains__, CommandExecutionError, type Plain } from '../../api.ts';

export const __virtualname__ = 'raid';

export const __virtual__ = (): string | [false, string] =>
  which('mdadm') ? __virtualname__ : [false, 'mdadm is not installed.'];

export const __func_alias__ = { list_: 'list' };

const plain = { plainLocale: true, cwd: '/' } as const;

const mdadm = (...args: string[]) => runCommand(['mdadm', ...args], plain);

const change = async (argv: readonly [string, ...string[]]): Promise<string> => {
  const { stdout, stderr } = await runChecked(argv, plain);
  return `${stderr}${stdout}`.trim();
};

type Array_ = { device: string; [key: string]: string };

/**
 * Returns the running arrays, by device.
 *
 * @example tsalt-ssh '*' raid.list
 */
export const list_ = async (): Promise<{ [device: string]: Array_ }> =>
  _parseScan((await mdadm('--detail', '--scan')).stdout);

/** Lines of `ARRAY /dev/md0 metadata=1.2 UUID=…`. */
export const _parseScan = (text: string): { [device: string]: Array_ } => {
  const arrays: { [device: string]: Array_ } = {};
  for (const line of text.split('\n')) {
    const [word, device, ...fields] = line.trim().split(/\s+/);
    if (word !== 'ARRAY' || !device) continue;
    const named = fields.flatMap(field => {
      const [key, value] = field.split(/=(.*)/);
      return key && value !== undefined ? [[key.toLowerCase(), value] as const] : [];
    });
    arrays[device] = { device, ...Object.fromEntries(named) };
  }
  return arrays;
};

type Member = { [field: string]: string };
type Details = { [field: string]: string | { [number: string]: Member } } & {
  members: { [number: string]: Member };
};

/**
 * Returns the details of an array: its fields, and its members by number.
 *
 * @param device the array
 * @example tsalt-ssh '*' raid.detail /dev/md0
 */
export const detail = async (device = '/dev/md0'): Promise<Details> => {
  if (!existsSync(device)) throw new CommandExecutionError(`Device ${device} doesn't exist!`);
  return _parseDetail((await mdadm('--detail', device)).stdout);
};

/** `Field : value` lines, then a table of members. */
export const _parseDetail = (text: string): Details => {
  const members: { [number: string]: Member } = {};
  const fields: { [field: string]: string } = {};
  for (const line of text.split('\n')) {
    const [name = '', value] = line.split(/ : (.*)/);
    if (value !== undefined) fields[name.trim().toLowerCase().replaceAll(' ', '_')] = value.trim();
    const words = line.trim().split(/\s+/);
    const device = words.at(-1) ?? '';
    if (value !== undefined || words.length < 6 || !device.startsWith('/')) continue;
    const [number = '', major = '', minor = '', raiddevice = '', ...state] = words.slice(0, -1);
    members[number] = { device, major, minor, number, raiddevice, state: state.join(' ') };
  }
  return { ...fields, members };
};

/**
 * Returns the array metadata of a member device; empty if it has none.
 *
 * @param device the device
 * @param quiet accepted for compatibility with Salt: a device without array metadata is never an
 * error
 * @example tsalt-ssh '*' raid.examine /dev/sda1
 */
export const examine = async (
  device: string,
  options: { quiet?: boolean } = {},
): Promise<{ [key: string]: string }> => {
  const { code, stdout, stderr } = await mdadm('-Y', '-E', device);
  if (code !== 0 && options.quiet !== true && !/No md superblock/.test(stderr))
    throw new CommandExecutionError(stderr.trim());
  return Object.fromEntries(
    stdout.split('\n').flatMap(line => {
      const [key, value] = line.split(/=(.*)/);
      return key && value !== undefined ? [[key, value]] : [];
    }),
  );
};

/** Converts further arguments to options of mdadm: `{chunk: 256, run: true}` is `--chunk 256 --run`. */
const optionWords = (options: { readonly [name: string]: unknown }): string[] =>
  Object.entries(options).flatMap(([name, value]) =>
    value === true ? [`--${name}`] : [`--${name}`, plainStr(value)],
  );

/**
 * Creates an array. Further arguments are options of mdadm.
 *
 * @param name its device
 * @param level its level: 0, 1, 5, 6, 10 …
 * @param devices its members; `missing` for one that is added later
 * @param metadata the format of its superblocks
 * @param test_mode true: only return the command
 * @example tsalt-ssh '*' raid.create /dev/md0 level=1 devices=/dev/sdb,/dev/sdc test_mode=True
 */
export const create = async (
  name: string,
  level: number | string,
  devices: Plain,
  {
    metadata = 'default',
    test_mode = false,
    ...options
  }: { metadata?: number | string; test_mode?: boolean; [option: string]: unknown } = {},
): Promise<string> => {
  const members = toList(devices);
  const count = members.length - Number(options['spare-devices'] ?? 0);
  const argv: [string, ...string[]] = [
    ...(['mdadm', '-C', name, '-R', '-v', '-l', String(level)] as const),
    ...optionWords(options),
    ...['-e', String(metadata), '-n', String(count)],
    ...members,
  ];
  return test_mode ? argv.map(quoteArg).join(' ') : change(argv);
};

/**
 * Assembles an array from existing members. Further arguments are options of mdadm.
 *
 * @param name its device
 * @param devices its members
 * @param test_mode true: only return the command
 * @example tsalt-ssh '*' raid.assemble /dev/md0 /dev/sdb,/dev/sdc
 */
export const assemble = async (
  name: string,
  devices: Plain,
  { test_mode = false, ...options }: { test_mode?: boolean; [option: string]: unknown } = {},
): Promise<string> => {
  const argv: [string, ...string[]] = [
    ...(['mdadm', '-A', name, '-v'] as const),
    ...optionWords(options),
    ...toList(devices),
  ];
  return test_mode ? argv.map(quoteArg).join(' ') : change(argv);
};

/**
 * Adds a device to an array that runs.
 *
 * @param name the array
 * @param device the device
 * @example tsalt-ssh '*' raid.add /dev/md0 /dev/sdd
 */
export const add = async (name: string, device: string): Promise<boolean> =>
  (await mdadm('--manage', name, '--add', device)).code === 0;

/**
 * Stops an array and makes its members plain devices again.
 *
 * @param device the array
 * @example tsalt-ssh '*' raid.destroy /dev/md0
 */
export const destroy = async (device: string): Promise<boolean> => {
  if (!existsSync(device)) return false;
  const { members } = await detail(device);
  await change(['mdadm', '--stop', device]);
  const devices = Object.values(members).map(member => member.device ?? '');
  if (devices.length > 0) await change(['mdadm', '--zero-superblock', ...devices]);
  await rewriteConfig(lines => lines.filter(line => arrayIn(line) !== device));
  return !(device in (await list_()));
};

/**
 * Stops all arrays that are not in use.
 *
 * @example tsalt-ssh '*' raid.stop
 */
export const stop = async (): Promise<boolean> => (await mdadm('--stop', '--scan')).code === 0;

const configFile = (): string =>
  __grains__.os_family === 'Debian' ? '/etc/mdadm/mdadm.conf' : '/etc/mdadm.conf';

/** Returns the array that a line of the configuration defines. */
const arrayIn = (line: string): string | undefined => /^ARRAY\s+(\S+)/.exec(line)?.[1];

const rewriteConfig = async (edit: (lines: string[]) => string[]): Promise<void> => {
  const before = readOr(configFile());
  const lines = (before ?? '')
    .split('\n')
    .filter((line, at, all) => line !== '' || at < all.length - 1);
  const after = edit(lines);
  if (after.join('\n') === lines.join('\n')) return;
  await replaceFile(configFile(), after.length > 0 ? `${after.join('\n')}\n` : '');
};

/**
 * Writes the arrays that run down in mdadm's configuration, and into the image that the kernel
 * starts from.
 *
 * @example tsalt-ssh '*' raid.save_config
 */
export const save_config = async (): Promise<string> => {
  const { stdout } = await mdadm('--detail', '--scan');
  const scanned = stdout
    .split('\n')
    .filter(line => arrayIn(line) !== undefined)
    // Ubuntu does not find an array again by name or metadata.
    .map(line =>
      __grains__.os === 'Ubuntu' ? line.replace(/\s(?:name|metadata)=\S+/gi, '') : line,
    );
  await rewriteConfig(lines => {
    const known = lines.map(
      line => scanned.find(one => arrayIn(one) === arrayIn(line) && arrayIn(line)) ?? line,
    );
    return [...known, ...scanned.filter(one => !known.includes(one))];
  });
  if (which('update-initramfs')) return change(['update-initramfs', '-u']);
  if (which('dracut')) return change(['dracut', '--force']);
  return '';
};
