import { join } from 'node:path';
import {
  type AccountName,
  applyPerms,
  permDifferences,
  readPerms,
} from '../_shared/files/check-perms.ts';
import { isDir, isFile, linkExists, lstatOf } from '../_shared/files/file-paths.ts';
import { readdirSync } from '../_shared/safe-fs/fs.ts';
import type { StateReturn } from '../api.ts';
import type { Member } from './archive-file.ts';

/** Whether something of another kind stands where a member belongs. */
const isWrong = (dir: string, { path, kind }: Member): boolean => {
  const full = join(dir, path);
  const there = lstatOf(full);
  if (!there) return false;
  if (kind === 'dir') return !isDir(full);
  if (kind === 'symlink') return !there.isSymbolicLink();
  return !isFile(full) || there.isSymbolicLink();
};

type Owners = { user: AccountName; group: AccountName };

/**
 * Returns the paths with a wrong owner: the archive's top-level names, or `only`, and everything
 * below.
 */
export const wronglyOwned = (
  dir: string,
  members: readonly Member[],
  owners: Owners,
  only: string | null,
): string[] => {
  if (!owners.user && !owners.group) return [];
  const tops = only ? [only] : topNames(members).map(name => join(dir, name));
  return tops
    .filter(linkExists)
    .flatMap(withBelow)
    .filter(path => Object.keys(permDifferences(readPerms(path, false), owners)).length > 0);
};

const withBelow = (path: string): string[] =>
  lstatOf(path)?.isDirectory()
    ? [path, ...readdirSync(path, { recursive: true, encoding: 'utf8' }).map(e => join(path, e))]
    : [path];

/** Sets the owners of the unpacked paths and adds the changes to the state's result. */
export const setOwners = (ret: StateReturn, paths: readonly string[], owners: Owners): void => {
  for (const path of paths) applyPerms(path, owners);
  if (paths.length > 0) ret.changes['updated ownership'] = true;
};

const topNames = (members: readonly Member[]): string[] => [
  ...new Set(members.map(({ path }) => path.split('/')[0] ?? '')),
];

/** Whether an archive spills: several folders at its top level, or any file there. Folders that it does not list do not count. */
export const isBomb = (members: readonly Member[]): boolean => {
  const isTop = ({ path, kind }: Member): boolean =>
    !path.includes('/') && kind !== 'dir' && kind !== 'symlink';
  return members.some(isTop) || topNames(members.filter(({ kind }) => kind === 'dir')).length > 1;
};

/** Returns the existing paths that block unpacking, in Salt's order: folders, then files, then links. */
export const inTheWay = (dir: string, members: readonly Member[]): Member[] => {
  const rank = ({ kind }: Member): number => (kind === 'dir' ? 0 : kind === 'symlink' ? 2 : 1);
  return members
    .filter(member => isWrong(dir, member))
    .sort((a, b) => rank(a) - rank(b) || (a.path < b.path ? -1 : 1));
};
