import { join } from 'node:path';
import { type Dirent, readdirSync, statSync } from '../_shared/safe-fs/fs.ts';

/** Package files that were downloaded, by name and version. */
export type Downloaded = {
  [name: string]: {
    [version: string]: {
      path: string;
      size: number;
      creation_date_time_t: number;
      creation_date_time: string;
    };
  };
};

/** Lists all files below a folder whose names end with a suffix. */
export const filesBelow = (folder: string, ending: string): string[] => {
  let entries: Dirent[];
  try {
    entries = readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
  return entries.flatMap(entry => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return filesBelow(path, ending);
    return entry.isFile() && entry.name.endsWith(ending) ? [path] : [];
  });
};

/** Groups downloaded files by the package name and version in each. */
export const downloadedOf = (
  files: Iterable<readonly [path: string, name: string, version: string]>,
): Downloaded => {
  const found: Downloaded = {};
  for (const [path, name, version] of files) {
    const { size, ctimeMs } = statSync(path);
    const seconds = Math.trunc(ctimeMs / 1000);
    found[name] = {
      ...found[name],
      [version]: {
        path,
        size,
        creation_date_time_t: seconds,
        creation_date_time: new Date(seconds * 1000).toISOString().replace(/\.000Z$/, ''),
      },
    };
  }
  return found;
};
