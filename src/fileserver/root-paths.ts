import { realpathSync } from 'node:fs';
import { posix } from 'node:path';

/** Whether a text can be the name of a saltenv, which is a part of paths. */
export const isSaltenvName = (saltenv: string): boolean =>
  saltenv !== '' && !/[/\\\0]/.test(saltenv) && saltenv !== '.' && saltenv !== '..';

/** Normalizes a path; undefined if it leads out of the roots. */
export const normalise = (path: string): string | undefined => {
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
