import { join } from 'node:path';
import type { StateReturn } from '../api.ts';
import type { Member } from './archive-file.ts';
import { type Account, applyPerms, permDifferences, readPerms } from './check-perms.ts';
import { isDir, isFile, linkExists, lstatOf } from './file-paths.ts';

/** Options of tar that say only what is found out anyhow: how the archive is packed, and that it is to be unpacked. */
const needless =
  /(?<=^|\s)(-?[zjJvxpf]+|--(gzip|bzip2|xz|zstd|verbose|extract|get|auto-compress))(?=\s|$)/g;

/** The number of `--strip-components` in tar options; undefined for any other option. */
export const stripOf = (options: string | null): number | undefined => {
  const words = (options ?? '').replace(needless, '').trim();
  if (words === '') return 0;
  const found = words.match(/^--strip(?:-components)?[=\s]\s*(\d+)$/)?.[1];
  return found === undefined ? undefined : Number(found);
};

/** Whether something of another kind stands where a member belongs. */
export const isWrong = (dir: string, { path, kind }: Member): boolean => {
  const full = join(dir, path);
  const there = lstatOf(full);
  if (!there) return false;
  if (kind === 'dir') return !isDir(full);
  if (kind === 'symlink') return !there.isSymbolicLink();
  return !isFile(full) || there.isSymbolicLink();
};

/** Gives what was unpacked to its owners, and reports that. */
export const setOwners = (
  ret: StateReturn,
  dir: string,
  members: readonly Member[],
  owners: { user: Account; group: Account },
  only: string | null,
): void => {
  const paths = only ? [only] : members.map(({ path }) => join(dir, path));
  for (const path of paths) {
    if (!linkExists(path)) continue;
    if (Object.keys(permDifferences(readPerms(path, false), owners)).length === 0) continue;
    applyPerms(path, owners);
    ret.changes['updated ownership'] = true;
  }
};
