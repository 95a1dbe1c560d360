import { lstatSync, realpathSync } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';

/** Whether a path without links is a folder, or in it. */
export const isWithinRoot = (root: string, real: string): boolean =>
  real === root || real.startsWith(root.endsWith(sep) ? root : root + sep);

/**
 * Returns what a file will be that an editor has not saved yet; undefined if there is something at
 * its path, or if a link leads the path out of the folder.
 */
export const newFile = (
  folder: string,
  path: string,
  text: string,
): { readonly size: number; readonly mode: number; readonly mtimeMs: number } | undefined => {
  if (isThere(path)) return undefined;
  return isWithinRoot(realPathOfNew(folder), realPathOfNew(path))
    ? { size: Buffer.byteLength(text), mode: 0o644, mtimeMs: 0 }
    : undefined;
};

const isThere = (path: string): boolean => {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    // A part of the path is a file, or may not be entered.
    return true;
  }
};

/** The path without links that a file will have once its folders are made. */
const realPathOfNew = (path: string): string => {
  try {
    return realpathSync(path);
  } catch {
    return path === dirname(path) ? path : join(realPathOfNew(dirname(path)), basename(path));
  }
};
