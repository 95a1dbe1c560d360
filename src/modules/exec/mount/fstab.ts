import { existsSync, readFileSync } from 'node:fs';
import { CommandExecutionError, SaltInvocationError } from '../../api.ts';
import { writeAtomic } from '../../lib/atomic-write.ts';
import { realPath } from '../../lib/file-paths.ts';
import { type FstabEntry, parseFstabLine, renderFstabLine } from '../../lib/fstab.ts';
import { notDone } from '../../lib/not-done.ts';

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

const linesOf = (config: string): string[] =>
  existsSync(config)
    ? readFileSync(config, 'utf8')
        .replace(/\n$/, '')
        .split('\n')
        .filter((line, _, all) => all.length > 1 || line !== '')
    : [];

/** Files of other systems than Linux, which Salt's module has too. */
const elsewhere = (file: string, system: string): string => `${file} is a file of ${system}`;

/** Not done here: /etc/vfstab is a file of Solaris. */
export const vfstab = async (config = '/etc/vfstab'): Promise<never> =>
  notDone('mount.vfstab', elsewhere(config, 'Solaris'));

/** Not done here: /etc/auto_salt is a file of macOS. */
export const automaster = async (config = '/etc/auto_salt'): Promise<never> =>
  notDone('mount.automaster', elsewhere(config, 'macOS'));

/** Not done here: /etc/filesystems is a file of AIX. */
export const filesystems = async (config = '/etc/filesystems'): Promise<never> =>
  notDone('mount.filesystems', elsewhere(config, 'AIX'));

const save = (config: string, lines: string[]): void => {
  if (!config.startsWith('/')) throw new SaltInvocationError(`${config} is no absolute path`);
  writeAtomic(realPath(config), lines.map(line => `${line}\n`).join(''));
};
