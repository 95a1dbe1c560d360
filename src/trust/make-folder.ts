import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Creates a folder and its parents, if it does not exist. Node's own `recursive` never returns if a
 * folder cannot be created although its parent exists, as in /proc.
 */
export const makeFolder = (path: string, mode = 0o777): void => {
  if (isFolder(path)) return;
  const above = dirname(path);
  if (above !== path) makeFolder(above, mode);
  try {
    mkdirSync(path, mode);
  } catch (error) {
    // Another process may have made it at this moment.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !isFolder(path)) throw error;
  }
};

const isFolder = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
