import { modeText } from '../_shared/files/file-mode.ts';
import { expandUser, lstatOf, realPath, statOf } from '../_shared/files/file-paths.ts';
import { groupName, userName } from '../_shared/files/owner-names.ts';
import type { Stats } from '../_shared/safe-fs/fs.ts';
import { CommandExecutionError } from '../api.ts';

export type FileStats = {
  inode: number;
  uid: number;
  gid: number;
  group: string | number;
  user: string | number;
  atime: number;
  mtime: number;
  ctime: number;
  size: number;
  mode: string;
  type: string;
  target: string;
};

/** Returns the result of `file.stats` for a path. Throws if the path does not exist. */
export const fileStats = (path: string, follow = true): FileStats => {
  const full = expandUser(path);
  const found = (follow ? statOf(full) : undefined) ?? lstatOf(full);
  if (!found) throw new CommandExecutionError(`Path not found: ${full}`);
  return {
    inode: found.ino,
    uid: found.uid,
    gid: found.gid,
    group: groupName(found.gid),
    user: userName(found.uid),
    atime: found.atimeMs / 1000,
    mtime: found.mtimeMs / 1000,
    ctime: found.ctimeMs / 1000,
    size: found.size,
    mode: modeText(found.mode),
    type: typeOf(found),
    target: realPath(full),
  };
};

export type FileKind = 'dir' | 'link' | 'char' | 'block' | 'pipe' | 'socket' | 'file';

export const typeOf = (stats: Stats): FileKind => {
  if (stats.isDirectory()) return 'dir';
  if (stats.isSymbolicLink()) return 'link';
  if (stats.isCharacterDevice()) return 'char';
  if (stats.isBlockDevice()) return 'block';
  if (stats.isFIFO()) return 'pipe';
  if (stats.isSocket()) return 'socket';
  return 'file';
};
