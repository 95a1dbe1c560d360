import { join } from 'node:path';
import { exists, expandUser, isDir, isFile } from '../../../_shared/files/file-paths.ts';
import { readNames } from '../../../_shared/files/read-file.ts';
import { readdirSync, readlinkSync, statSync } from '../../../_shared/safe-fs/fs.ts';

/**
 * Returns the bytes of a file, or of all files below a folder; a file with several hard links counts
 * once.
 *
 * @param path the file or folder
 *
 * @example tsalt-ssh '*' file.diskusage /path/to/check
 */
export const diskusage = async (path: string): Promise<number> => {
  const place = expandUser(path);
  if (isFile(place)) return statSync(place).size;
  const seen = new Set<string>();
  let total = 0;
  for (const entry of isDir(place)
    ? readdirSync(place, { recursive: true, withFileTypes: true })
    : []) {
    if (entry.isDirectory()) continue;
    const found = statSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false });
    if (!found || found.isDirectory() || seen.has(`${found.dev} ${found.ino}`)) continue;
    seen.add(`${found.dev} ${found.ino}`);
    total += found.size;
  }
  return total;
};

/**
 * Returns the files that processes have open, with the pids of these processes.
 *
 * @param by_pid the other way round: the files by pid
 *
 * @example tsalt-ssh '*' file.open_files
 */
export const open_files = async (
  by_pid = false,
): Promise<Record<string, number[]> | Record<string, string[]>> => {
  const files: Record<string, number[]> = {};
  const pids: Record<string, string[]> = {};
  for (const pid of readNames('/proc').filter(name => /^\d+$/.test(name))) {
    const links = [
      `/proc/${pid}/exe`,
      ...readNames(`/proc/${pid}/fd`).map(fd => `/proc/${pid}/fd/${fd}`),
    ];
    const open = new Set(links.flatMap(targetOf).filter(exists));
    pids[pid] = [...open].sort();
    for (const path of open) files[path] = [...(files[path] ?? []), Number(pid)];
  }
  return by_pid ? pids : files;
};

/** Returns the target of a link; nothing if it no longer exists or belongs to another user. */
const targetOf = (link: string): string[] => {
  try {
    const target = readlinkSync(link);
    return target.startsWith('/') ? [target] : [];
  } catch {
    return [];
  }
};
