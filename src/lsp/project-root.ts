import { existsSync } from 'node:fs';
import { dirname, isAbsolute, join, relative } from 'node:path';

/** Whether a path is a folder, or in it. */
export const isInFolder = (folder: string, path: string): boolean => {
  const rel = relative(folder, path);
  return rel !== '..' && !rel.startsWith('../') && !isAbsolute(rel);
};

/**
 * The folder of the project that a file is of: the nearest one with a `tsalt.yaml` within the
 * folder that the editor has opened, else that folder.
 */
export const projectRoot = (path: string, folders: readonly string[]): string => {
  const opened = folders
    .filter(folder => isInFolder(folder, path))
    .sort((a, b) => b.length - a.length)[0];
  for (
    let dir = dirname(path);
    opened === undefined || isInFolder(opened, dir);
    dir = dirname(dir)
  ) {
    if (existsSync(join(dir, 'tsalt.yaml'))) return dir;
    if (dir === dirname(dir)) break;
  }
  return opened ?? folders[0] ?? process.cwd();
};
