import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  openSync as open,
  readSync,
  type Stats,
} from 'node:fs';
import {
  hasHandles,
  nameOfFd,
  O_PATH,
  openParent,
  type SafePath,
  withParent,
} from './open-parent.ts';
import { RefusedPath } from './refused.ts';

const {
  O_ACCMODE = 3,
  O_APPEND,
  O_CREAT,
  O_EXCL,
  O_NOFOLLOW,
  O_NONBLOCK,
  O_RDONLY,
  O_RDWR,
  O_TRUNC,
  O_WRONLY,
} = constants as typeof constants & { O_ACCMODE?: number };

/** node's names for the ways to open a file. */
const ways: Readonly<Record<string, number>> = {
  r: O_RDONLY,
  'r+': O_RDWR,
  w: O_TRUNC | O_CREAT | O_WRONLY,
  wx: O_TRUNC | O_CREAT | O_WRONLY | O_EXCL,
  'w+': O_TRUNC | O_CREAT | O_RDWR,
  'wx+': O_TRUNC | O_CREAT | O_RDWR | O_EXCL,
  a: O_APPEND | O_CREAT | O_WRONLY,
  ax: O_APPEND | O_CREAT | O_WRONLY | O_EXCL,
  'a+': O_APPEND | O_CREAT | O_RDWR,
};

const bitsOf = (flags: string | number): number => {
  const bits = typeof flags === 'number' ? flags : ways[flags];
  if (bits === undefined) throw new TypeError(`Files cannot be opened by "${flags}".`);
  return bits;
};

/**
 * Opens a file. In a directory that another account can change it is never a link, a named pipe or
 * a device, and never written when it has other names too.
 *
 * @throws RefusedPath for what root does not open there
 */
export const openFile = (path: string, flags: string | number = 'r', mode = 0o666): number => {
  const bits = bitsOf(flags);
  const isNew = (bits & (O_CREAT | O_EXCL)) === (O_CREAT | O_EXCL);
  return withParent(path, !isNew && (bits & O_NOFOLLOW) === 0, place => openAt(place, bits, mode));
};

export const openAt = (place: SafePath, bits: number, mode: number): number => {
  if (place.isRoots) return open(place.path, bits, mode);
  const fd = open(place.path, (bits & ~O_TRUNC) | O_NOFOLLOW | O_NONBLOCK, mode);
  try {
    const found = fstatSync(fd);
    if (!found.isFile() && !found.isDirectory())
      throw new RefusedPath(
        `${place.shown} is not a regular file: as root, nothing else is opened in a directory that other users can change.`,
      );
    if ((bits & O_ACCMODE) !== O_RDONLY) refuseOtherNames(place, found);
    if ((bits & O_TRUNC) !== 0) ftruncateSync(fd);
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
};

/** A hard link in a user's directory may be a name of a file that is not the user's. */
const refuseOtherNames = (place: SafePath, found: Stats): void => {
  if (found.nlink < 2 || found.isDirectory() || found.uid === place.owner) return;
  throw new RefusedPath(
    `${place.shown} has other names (hard links), and user ${found.uid} owns it: as root it is not changed in a directory that other users can change.`,
  );
};

/** Opens a directory that must not be a link. */
export const openDir = (place: SafePath): number =>
  open(place.path, O_RDONLY | constants.O_DIRECTORY | O_NOFOLLOW);

/** Calls `change` with a path that keeps referring to this file, even when its entry is replaced. */
export const withEntry = (place: SafePath, change: (path: string, found: Stats) => void): void => {
  const fd = open(place.path, (hasHandles() ? O_PATH : O_RDONLY | O_NONBLOCK) | O_NOFOLLOW);
  try {
    const found = fstatSync(fd);
    if (found.isSymbolicLink())
      throw new RefusedPath(`${place.shown} became a symlink: as root it is not followed.`);
    refuseOtherNames(place, found);
    change(hasHandles() ? nameOfFd(fd) : place.path, found);
  } finally {
    closeSync(fd);
  }
};

/** More of another account's file is not kept in memory. */
export const mostOfOthers = 256 * 1024 * 1024;

/** All of a file that must not be larger than `most`, whatever its size was said to be. */
export const readOpenFile = (fd: number, shown: string, most: number): Buffer => {
  const { size } = fstatSync(fd);
  const parts: Buffer[] = [];
  let total = 0;
  for (;;) {
    if (Math.max(size, total) > most)
      throw new RefusedPath(
        `${shown} is larger than ${Math.floor(most / 1024 / 1024)} MiB: it is not read.`,
      );
    const part = Buffer.allocUnsafe(Math.min(Math.max(size - total, 4096) + 1, 1024 * 1024));
    const count = readSync(fd, part);
    if (count === 0) return Buffer.concat(parts);
    parts.push(part.subarray(0, count));
    total += count;
  }
};

/**
 * Reads a file that belongs to a user, or could: a regular file, of at most `most` bytes.
 *
 * @throws RefusedPath for anything else
 */
export const readOfUser = (path: string, most = 16 * 1024 * 1024): Buffer => {
  const place = openParent(path, true);
  try {
    const fd = open(place.path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      if (!fstatSync(fd).isFile())
        throw new RefusedPath(`${path} is not a regular file: it is not read.`);
      return readOpenFile(fd, path, most);
    } finally {
      closeSync(fd);
    }
  } finally {
    place.close();
  }
};
