import { realpathSync } from 'node:fs';
import { posix } from 'node:path';

/** Whether a text can be the name of a saltenv, which is a part of paths. */
export const isSaltenvName = (saltenv: string): boolean =>
  saltenv !== '' && !/[/\\\0]/.test(saltenv) && saltenv !== '.' && saltenv !== '..';

/** An empty segment, `.` or `..`, or a character that no path has. */
const notNormal = /(?:^|\/)\.{0,2}(?:\/|$)|\0/;

/** Whether a relative path is what normalizing it would return. */
export const isNormal = (path: string): boolean => !notNormal.test(path);

/** Normalizes a path; undefined if it leads out of the roots. */
export const normalise = (path: string): string | undefined => {
  if (isNormal(path)) return path;
  if (path === '' || path.includes('\0') || posix.isAbsolute(path)) return undefined;
  const rel = posix.normalize(path);
  return rel === '..' || rel.startsWith('../') || rel === '.' || rel.endsWith('/')
    ? undefined
    : rel;
};

/** Returns a path without links; undefined if nothing is there. */
export const resolvedPath = (path: string): string | undefined => {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
};
