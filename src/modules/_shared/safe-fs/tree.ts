import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fchmodSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  rmdirSync,
  type Stats,
  statSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { openAt } from './open.ts';
import { hasHandles, nameOfFd, type SafePath, withParent } from './open-parent.ts';
import { RefusedPath } from './refused.ts';

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_TRUNC, O_WRONLY } =
  constants;

/** Deeper trees are made by nobody but to harm. */
const deepest = 1000;

/** Works in an open directory: what becomes of its name meanwhile does not matter. */
const inside = <T>(dir: string, work: (path: string) => T): T => {
  const fd = openSync(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  try {
    return work(hasHandles() ? nameOfFd(fd) : dir);
  } finally {
    closeSync(fd);
  }
};

/** Removes an entry, and what is below it, without following a link. */
export const removeTree = (path: string, depth = 0): void => {
  const found = lstatSync(path);
  if (!found.isDirectory()) {
    unlinkSync(path);
    return;
  }
  refuseDepth(path, depth);
  inside(path, dir => {
    for (const name of readdirSync(dir)) removeBelow(`${dir}/${name}`, depth + 1);
  });
  rmdirSync(path);
};

/** Removes a tree. Entries that another process has removed meanwhile are skipped. */
const removeBelow = (path: string, depth: number): void => {
  try {
    removeTree(path, depth);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
};

const refuseDepth = (path: string, depth: number): void => {
  if (depth > deepest)
    throw new RefusedPath(`${path} is more than ${deepest} directories deep: refused.`);
};

/** An entry below a directory: its path from there, and what it is. */
export type Below = { readonly path: string; readonly found: Stats };

/** All entries below a directory, those of a directory after it; links are not followed. */
export const listSafeTree = (dir: string, prefix = '', depth = 0): Below[] => {
  refuseDepth(dir, depth);
  return inside(dir, at =>
    readdirSync(at).flatMap((name): Below[] => {
      const entry = `${at}/${name}`;
      const path = prefix + name;
      const found = lstatSync(entry, { throwIfNoEntry: false });
      if (!found) return [];
      const one = { path, found };
      return found.isDirectory() ? [one, ...listSafeTree(entry, `${path}/`, depth + 1)] : [one];
    }),
  );
};

/** Makes a directory and its parents; returns the first one that was made. */
export const makeTree = (path: string, mode: number | undefined): string | undefined => {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return undefined;
  const above = dirname(path);
  const first = above === path ? undefined : makeTree(above, mode);
  try {
    withParent(path, false, place => mkdirSync(place.path, mode));
  } catch (error) {
    const isThere = (error as NodeJS.ErrnoException).code === 'EEXIST';
    if (isThere && statSync(path, { throwIfNoEntry: false })?.isDirectory()) return first;
    throw error;
  }
  return first ?? path;
};

/** Copies the content of a file, and its mode where the copy is new. */
export const copyFileAt = (from: SafePath, to: SafePath, flags: number): void => {
  const source = openAt(from, O_RDONLY, 0);
  try {
    const { mode } = fstatSync(source);
    const isNew = !existsSync(to.path);
    const exclusive = (flags & constants.COPYFILE_EXCL) !== 0 ? O_EXCL : 0;
    const target = openAt(to, O_WRONLY | O_CREAT | exclusive | O_TRUNC, mode & 0o777);
    try {
      if (hasHandles()) copyFileSync(nameOfFd(source), nameOfFd(target));
      else copyFileSync(from.path, to.path);
      if (isNew) fchmodSync(target, mode & 0o7777);
    } finally {
      closeSync(target);
    }
  } finally {
    closeSync(source);
  }
};

/** Copies an entry and what is below it: links as links; pipes and devices are left out. */
export const copyTree = (from: string, to: string, keepTimes: boolean, depth = 0): void => {
  const found = lstatSync(from);
  refuseDepth(from, depth);
  if (found.isDirectory()) {
    if (!lstatSync(to, { throwIfNoEntry: false })) mkdirSync(to, found.mode & 0o7777);
    inside(from, source =>
      inside(to, target => {
        for (const name of readdirSync(source))
          copyTree(`${source}/${name}`, `${target}/${name}`, keepTimes, depth + 1);
        if (keepTimes) utimesSync(target, found.atime, found.mtime);
      }),
    );
    return;
  }
  if (found.isSymbolicLink()) {
    if (lstatSync(to, { throwIfNoEntry: false })) unlinkSync(to);
    symlinkSync(readlinkSync(from), to);
  } else if (found.isFile()) copyOne(from, to, keepTimes);
};

const copyOne = (from: string, to: string, keepTimes: boolean): void => {
  const source = openSync(from, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const { mode, atime, mtime } = fstatSync(source);
    if (lstatSync(to, { throwIfNoEntry: false })) unlinkSync(to);
    const target = openSync(to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode & 0o777);
    try {
      if (hasHandles()) copyFileSync(nameOfFd(source), nameOfFd(target));
      else copyFileSync(from, to);
      fchmodSync(target, mode & 0o7777);
      if (keepTimes && hasHandles()) utimesSync(nameOfFd(target), atime, mtime);
    } finally {
      closeSync(target);
    }
  } finally {
    closeSync(source);
  }
};
