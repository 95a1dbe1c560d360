import { join } from 'node:path';
import { messageOf } from '../../../../protocol/error.ts';
import { expandUser, isAbs, isDir, statOf } from '../../../_shared/files/file-paths.ts';
import { lstatSync, readdirSync, type Stats } from '../../../_shared/safe-fs/fs.ts';
import { failed, newReturn } from '../../../_shared/states/returns.ts';
import { pythonMatcher } from '../../../_shared/text/python-regex.ts';
import { __opts__, __salt__, type StateReturn } from '../../../api.ts';

type TidiedOptions = {
  age?: number;
  matches?: string[] | null;
  rmdirs?: boolean;
  size?: number | string;
  exclude?: string[] | null;
  full_path_match?: boolean;
  followlinks?: boolean;
  time_comparison?: string;
  age_size_logical_operator?: string;
  age_size_only?: string | null;
  rmlinks?: boolean;
};

/**
 * Removes old or large files below a directory.
 *
 * @param name the directory
 * @param age minimum age in days
 * @param matches regular expressions (Python's syntax) for names
 * @param rmdirs also remove directories
 * @param size minimum size in bytes, or as a string such as `10m`
 * @param exclude regular expressions for names that are kept
 * @param full_path_match the regular expressions are for whole paths
 * @param followlinks look into symlinked directories
 * @param time_comparison `atime`, `mtime` or `ctime`
 * @param age_size_logical_operator `OR` or `AND`
 * @param age_size_only `age` or `size`: only this counts
 * @param rmlinks also remove symlinks
 * @unknown ignored
 *
 * @example
 * /var/log/app:
 *   file.tidied:
 *     - age: 30
 *     - age_size_only: age
 *     - matches: ['.*\.gz']
 */
export const tidied = async (
  name: string,
  {
    age = 0,
    matches = null,
    rmdirs = false,
    size = 0,
    exclude = null,
    full_path_match = false,
    followlinks = false,
    time_comparison = 'atime',
    age_size_logical_operator = 'OR',
    age_size_only = null,
    rmlinks = true,
  }: TidiedOptions = {},
): Promise<StateReturn> => {
  const path = expandUser(name);
  const ret = newReturn(path);
  if (!isAbs(path)) return failed(ret, `Specified file ${path} is not an absolute path`);
  if (!isDir(path)) return failed(ret, `${path} does not exist or is not a directory.`);
  const wanted = (matches ?? ['.*']).map(pythonMatcher);
  const unwanted = (exclude ?? []).map(pythonMatcher);
  const bytes = toBytes(size);
  const both = age_size_logical_operator.toUpperCase() === 'AND';
  const found = below(path, followlinks).filter(entry => {
    const { stats, isLink } = entry;
    if (isLink ? !rmlinks : stats.isDirectory() && !rmdirs) return false;
    const text = full_path_match ? entry.path : (entry.path.split('/').at(-1) ?? '');
    if (!wanted.some(matches => matches(text)) || unwanted.some(matches => matches(text)))
      return false;
    const old = daysSince(timeOf(stats, time_comparison)) >= age;
    const large = (isLink || stats.isDirectory() ? 0 : stats.size) >= bytes;
    if (age_size_only?.toLowerCase() === 'age') return old;
    if (age_size_only?.toLowerCase() === 'size') return large;
    return both ? old && large : old || large;
  });
  const removed = found.map(entry => entry.path);
  if (removed.length === 0) return { ...ret, comment: `Nothing to remove from directory ${path}` };
  if (__opts__.test)
    return { ...ret, result: null, changes: { removed }, comment: `${path} is set for tidy` };
  const done: string[] = [];
  try {
    for (const each of removed) {
      await __salt__['file.remove']?.(each);
      done.push(each);
    }
  } catch (error) {
    return failed({ ...ret, changes: { removed: done } }, messageOf(error));
  }
  const comment = `Removed ${removed.length} files or directories from directory ${path}`;
  return { ...ret, changes: { removed }, comment };
};

type Entry = { path: string; stats: Stats; isLink: boolean };

/** Returns everything below a directory, deeper entries first. */
const below = (top: string, followLinks: boolean): Entry[] => {
  const entries = readdirSync(top).flatMap(name => {
    const path = join(top, name);
    const own = lstatSync(path, { throwIfNoEntry: false });
    const isLink = own?.isSymbolicLink() ?? false;
    const stats = isLink ? own : statOf(path);
    return stats ? [{ path, stats, isLink }] : [];
  });
  const deeper = entries
    .filter(({ path, stats, isLink }) =>
      isLink ? followLinks && isDir(path) : stats.isDirectory(),
    )
    .flatMap(({ path }) => below(path, followLinks));
  return [...deeper, ...entries];
};

const timeOf = (stats: Stats, kind: string): Date =>
  kind.toLowerCase() === 'ctime'
    ? stats.ctime
    : kind.toLowerCase() === 'mtime'
      ? stats.mtime
      : stats.atime;

/** Returns the number of calendar days since a time, like Salt. */
const daysSince = (time: Date): number => {
  const day = (date: Date): number =>
    Date.UTC(date.getFullYear(), date.getMonth(), date.getDate()) / 86_400_000;
  return Math.abs(day(new Date()) - day(time));
};

const units = 'bkmgtp';

const toBytes = (size: number | string): number => {
  if (typeof size === 'number') return size;
  const [, digits = '0', unit = 'b'] =
    size
      .trim()
      .toLowerCase()
      .match(/^([\d.]+)\s*([bkmgtp]?)/) ?? [];
  return Number(digits) * 1024 ** Math.max(units.indexOf(unit), 0);
};
