import { writeAtomic } from '../../../_shared/files/atomic-write.ts';
import { type FstabEntry, parseFstabLine, renderFstabLine } from '../../../_shared/files/fstab.ts';
import { existsSync, readFileSync } from '../../../_shared/safe-fs/fs.ts';
import { followLinks } from '../../../_shared/safe-fs/open-parent.ts';
import { CommandExecutionError, SaltInvocationError } from '../../../api.ts';

/**
 * Returns the entries of an fstab, by mount point. A `_` is appended to the name of a further entry
 * with the same mount point.
 *
 * @param config the file
 *
 * @example tsalt-ssh '*' mount.fstab
 */
export const fstab = async (config = '/etc/fstab'): Promise<Record<string, ShownEntry>> => {
  const entries: Record<string, ShownEntry> = {};
  for (const line of linesOf(config)) {
    const entry = parseFstabLine(line);
    if (!entry) continue;
    const { device, fstype, opts, dump, pass_num: pass } = entry;
    let key = entry.name;
    while (Object.hasOwn(entries, key)) key = `${key}_`;
    entries[key] = { device, fstype, opts: opts.split(','), dump, pass };
  }
  return entries;
};

type ShownEntry = {
  device: string;
  fstype: string;
  opts: string[];
  dump: string;
  pass: string;
};

/** File systems without a device of their own: the same device name may be mounted at several paths. */
const withoutDevice = new Set(
  `none tmpfs sysfs proc fusectl debugfs securityfs devtmpfs cgroup nfs nfs4 glusterfs btrfs
  autofs binfmt_misc bpf cgroup2 configfs devpts efivarfs hugetlbfs mqueue overlay pstore ramfs tracefs`.split(
    /\s+/,
  ),
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
 * Adds or changes an entry of an fstab. Returns `new`, `change` or `present`.
 *
 * @param name the mount point
 * @param device the device to mount
 * @param fstype its type
 * @param opts mount options
 * @param dump whether `dump` saves it
 * @param pass_num when `fsck` checks it
 * @param config the file
 * @param test only report what would be done
 * @param match_on the fields that identify the entry: `name`, `device` … `auto`: the device, or the
 * name if the type has no device of its own (tmpfs, nfs, btrfs, overlay …)
 * @param not_change do not change an existing entry
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
    match_on === 'auto' ? [withoutDevice.has(fstype) ? 'name' : 'device'] : [match_on].flat();
  const unknown = keys.find(key => !Object.hasOwn(wanted, key));
  if (unknown !== undefined)
    throw new CommandExecutionError(`match_on: "${unknown}" is not a field of fstab`);
  const lines = linesOf(config);
  const fitting = (names: readonly string[]): number =>
    lines.findIndex(line => {
      const entry = parseFstabLine(line);
      return (
        entry !== undefined &&
        names.every(key => entry[key as keyof FstabEntry] === wanted[key as keyof FstabEntry])
      );
    });
  // If several entries match, the one with this mount point is changed.
  const same = fitting([...keys, 'name']);
  const at = same >= 0 ? same : fitting(keys);
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
 * Removes an entry from an fstab. Returns true, even if it did not exist.
 *
 * @param name the mount point
 * @param device the device, if several entries have the same mount point
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
  if (left.length < lines.length) save(config, left);
  return true;
};

const linesOf = (config: string): string[] =>
  existsSync(config)
    ? readFileSync(config, 'utf8')
        .replace(/\n$/, '')
        .split('\n')
        .filter((line, _, all) => all.length > 1 || line !== '')
    : [];

const save = (config: string, lines: string[]): void => {
  if (!config.startsWith('/')) throw new SaltInvocationError(`${config} is not an absolute path`);
  writeAtomic(followLinks(config), lines.map(line => `${line}\n`).join(''));
};
