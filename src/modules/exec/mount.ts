/**
 * File systems: what is mounted, and what fstab says.
 *
 * @platform linux
 * @depends mount, umount
 */
import { existsSync, readFileSync } from 'node:fs';
import { CommandExecutionError, SaltInvocationError } from '../api.ts';
import { writeAtomic } from '../lib/atomic-write.ts';
import { realPath } from '../lib/file-paths.ts';
import { decode, type FstabEntry, parseFstabLine, renderFstabLine } from '../lib/fstab.ts';
import { makeDirs } from '../lib/make-dirs.ts';
import { runCommand } from '../lib/run-command.ts';

type Active = { device: string; alt_device: string; fstype: string; opts: string[] };

/**
 * What is mounted, by mount point.
 *
 * @example tsalt-ssh '*' mount.active
 */
export const active = async (): Promise<Record<string, Active>> =>
  Object.fromEntries(
    readFileSync('/proc/self/mounts', 'utf8')
      .split('\n')
      .filter(Boolean)
      .map(line => {
        const [device = '', path = '', fstype = '', opts = ''] = line.split(' ').map(decode);
        return [path, { device, alt_device: device, fstype, opts: opts.split(',') }];
      }),
  );

/**
 * Whether something is mounted at a path.
 *
 * @param name the path
 *
 * @example tsalt-ssh '*' mount.is_mounted /mnt/share
 */
export const is_mounted = async (name: string): Promise<boolean> =>
  Object.hasOwn(await active(), realPath(name));

/**
 * Mounts a file system. True, or what `mount` says.
 *
 * @param name the mount point
 * @param device what to mount
 * @param mkmnt make the mount point
 * @param fstype its type
 * @param opts mount options, with commas or as a list
 *
 * @example tsalt-ssh '*' mount.mount /mnt/foo /dev/sdz1 True
 */
export const mount = async (
  name: string,
  device: string,
  mkmnt = false,
  fstype = '',
  opts: string | string[] = 'defaults',
): Promise<true | string> => {
  if (mkmnt) makeDirs(name);
  const options = [opts].flat().join(',');
  const type = fstype ? ['-t', fstype] : [];
  const { code, stderr, stdout } = await runCommand(
    ['mount', '-o', options, ...type, '--', device, name],
    { plainLocale: true },
  );
  return code === 0 ? true : stderr.trim() || stdout.trim();
};

/**
 * Mounts a file system again with other options. True, or what `mount` says.
 *
 * @param name the mount point
 * @param device what is mounted
 * @param mkmnt make the mount point
 * @param fstype its type
 * @param opts mount options, with commas or as a list
 *
 * @example tsalt-ssh '*' mount.remount /mnt/foo /dev/sdz1 True
 */
export const remount = async (
  name: string,
  device: string,
  mkmnt = false,
  fstype = '',
  opts: string | string[] = 'defaults',
): Promise<true | string> =>
  (await is_mounted(name))
    ? mount(name, device, false, fstype, ['remount', ...[opts].flat()])
    : mount(name, device, mkmnt, fstype, opts);

/**
 * Takes a mounted file system away. True, or what `umount` says.
 *
 * @param name the mount point
 * @param lazy detach it now, clean up when nobody uses it
 *
 * @example tsalt-ssh '*' mount.umount /mnt/foo
 */
export const umount = async (
  name: string,
  { lazy = false }: { lazy?: boolean } = {},
): Promise<true | string> => {
  if (!(await is_mounted(name))) return `${name} does not have anything mounted`;
  const { code, stderr } = await runCommand(['umount', ...(lazy ? ['-l'] : []), '--', name], {
    plainLocale: true,
  });
  return code === 0 ? true : stderr.trim();
};

/**
 * The entries of an fstab, by mount point (swap by device).
 *
 * @param config the file
 *
 * @example tsalt-ssh '*' mount.fstab
 */
export const fstab = async (
  config = '/etc/fstab',
): Promise<Record<string, Omit<FstabEntry, 'name' | 'opts'> & { opts: string[] }>> =>
  Object.fromEntries(
    linesOf(config).flatMap(line => {
      const entry = parseFstabLine(line);
      if (!entry) return [];
      const { name, opts, ...rest } = entry;
      return [
        [
          name === 'none' || name === 'swap' ? entry.device : name,
          { ...rest, opts: opts.split(',') },
        ],
      ];
    }),
  );

type SetOptions = {
  opts?: string | string[];
  dump?: number | string;
  pass_num?: number | string;
  config?: string;
  test?: boolean;
  match_on?: string | string[];
  not_change?: boolean;
};

/**
 * Sets an entry of an fstab. Gives `new`, `change` or `present`.
 *
 * @param name the mount point
 * @param device what is mounted
 * @param fstype its type
 * @param opts mount options
 * @param dump whether `dump` saves it
 * @param pass_num when `fsck` checks it
 * @param config the file
 * @param test only tell
 * @param match_on `auto`, or what finds the entry: `name`, `device`
 * @param not_change leave an entry that is there as it is
 *
 * @example tsalt-ssh '*' mount.set_fstab /mnt/foo /dev/sdz1 ext4
 */
export const set_fstab = async (
  name: string,
  device: string,
  fstype: string,
  {
    opts = 'defaults',
    dump = 0,
    pass_num = 0,
    config = '/etc/fstab',
    test = false,
    match_on = 'auto',
    not_change = false,
  }: SetOptions = {},
): Promise<'new' | 'change' | 'present'> => {
  const wanted: FstabEntry = {
    device,
    name,
    fstype,
    opts: [opts].flat().join(','),
    dump: String(dump),
    pass_num: String(pass_num),
  };
  const keys =
    match_on === 'auto'
      ? ['none', 'swap'].includes(name)
        ? ['device']
        : ['name']
      : [match_on].flat();
  const unknown = keys.find(key => !Object.hasOwn(wanted, key));
  if (unknown !== undefined)
    throw new CommandExecutionError(`match_on: "${unknown}" is no field of fstab`);
  const lines = linesOf(config);
  const at = lines.findIndex(line => {
    const entry = parseFstabLine(line);
    return (
      entry !== undefined &&
      keys.every(key => entry[key as keyof FstabEntry] === wanted[key as keyof FstabEntry])
    );
  });
  const known = parseFstabLine(lines[at] ?? '');
  if (known && (not_change || renderFstabLine(known) === renderFstabLine(wanted))) return 'present';
  if (!test)
    save(
      config,
      known ? lines.with(at, renderFstabLine(wanted)) : [...lines, renderFstabLine(wanted)],
    );
  return known ? 'change' : 'new';
};

/**
 * Removes an entry from an fstab. True when it was there.
 *
 * @param name the mount point
 * @param device what is mounted, when several are at one place
 * @param config the file
 *
 * @example tsalt-ssh '*' mount.rm_fstab /mnt/foo
 */
export const rm_fstab = async (
  name: string,
  device: string | null = null,
  config = '/etc/fstab',
): Promise<boolean> => {
  const lines = linesOf(config);
  const left = lines.filter(line => {
    const entry = parseFstabLine(line);
    return !(entry?.name === name && (device === null || entry.device === device));
  });
  if (left.length === lines.length) return false;
  save(config, left);
  return true;
};

/**
 * The swap spaces in use.
 *
 * @example tsalt-ssh '*' mount.swaps
 */
export const swaps = async (): Promise<Record<string, Record<string, string>>> => {
  const lines = existsSync('/proc/swaps') ? readFileSync('/proc/swaps', 'utf8').split('\n') : [];
  return Object.fromEntries(
    lines
      .slice(1)
      .filter(Boolean)
      .map(line => {
        const [name = '', type = '', size = '', used = '', priority = ''] = line
          .split(/\s+/)
          .map(decode);
        return [name, { type, size, used, priority }];
      }),
  );
};

/**
 * Uses a swap space. Gives whether it is in use, and whether it was before.
 *
 * @param name the device or file
 * @param priority its priority
 *
 * @example tsalt-ssh '*' mount.swapon /root/swapfile
 */
export const swapon = async (
  name: string,
  priority: number | null = null,
): Promise<{ stats: Record<string, string> | null; new: boolean }> => {
  const before = (await swaps())[name];
  if (before) return { stats: before, new: false };
  const rank = priority === null ? [] : ['-p', String(Number(priority))];
  const { code, stderr } = await runCommand(['swapon', ...rank, '--', name], { plainLocale: true });
  if (code !== 0) throw new CommandExecutionError(stderr.trim());
  return { stats: (await swaps())[name] ?? null, new: true };
};

/**
 * Uses a swap space no more. True when it is not in use then.
 *
 * @param name the device or file
 *
 * @example tsalt-ssh '*' mount.swapoff /root/swapfile
 */
export const swapoff = async (name: string): Promise<boolean> => {
  if (!(await swaps())[name]) return true;
  await runCommand(['swapoff', '--', name], { plainLocale: true });
  return !(await swaps())[name];
};

const linesOf = (config: string): string[] =>
  existsSync(config)
    ? readFileSync(config, 'utf8')
        .replace(/\n$/, '')
        .split('\n')
        .filter((line, _, all) => all.length > 1 || line !== '')
    : [];

const save = (config: string, lines: string[]): void => {
  if (!config.startsWith('/')) throw new SaltInvocationError(`${config} is no absolute path`);
  writeAtomic(realPath(config), lines.map(line => `${line}\n`).join(''));
};
