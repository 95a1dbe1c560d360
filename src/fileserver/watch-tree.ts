import { type FSWatcher, lstatSync, readdirSync, watch } from 'node:fs';
import { join, sep } from 'node:path';
import { messageOf, TsaltError } from '../protocol/error.ts';

/**
 * Watches a folder and all below it, with one watcher for each folder. Node's own `recursive`
 * watches each file on Linux: once an editor has replaced a file by a new one, it misses all later
 * saves. Links are not followed.
 *
 * @param note called with the path of each file or folder that was written, made or removed
 * @param skip whether a folder is left out
 * @returns a function that ends the watching
 * @throws TsaltError `watch-failed`
 */
export const watchTree = (
  root: string,
  note: (path: string) => void,
  skip: (folder: string) => boolean = () => false,
): (() => void) => {
  const watchers = new Map<string, FSWatcher>();
  const close = (folder: string): void => {
    for (const [path, watcher] of watchers)
      if (path === folder || path.startsWith(folder + sep)) {
        watcher.close();
        watchers.delete(path);
      }
  };
  const add = (folder: string, isNew: boolean): void => {
    if (skip(folder)) return;
    // A folder of this name may have been here before.
    close(folder);
    const watcher = watch(folder, (kind, name) => {
      if (name === null) return;
      const path = join(folder, name);
      if (kind === 'rename' && isFolder(path)) addBelow(path, true);
      else if (kind === 'rename') close(path);
      note(path);
    });
    watchers.set(folder, watcher);
    watcher.on('error', () => close(folder));
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      // Written before the new folder was watched.
      if (isNew) note(path);
      if (entry.isDirectory()) addBelow(path, isNew);
    }
  };
  const addBelow = (folder: string, isNew: boolean): void => {
    try {
      add(folder, isNew);
    } catch (error) {
      close(folder);
      // It was removed meanwhile.
      if (isNew || codeOf(error) === 'ENOENT') return;
      throw error;
    }
  };
  try {
    add(root, false);
  } catch (cause) {
    close(root);
    throw unwatchable(root, cause);
  }
  return () => close(root);
};

/** False also for what this user may not see: an event must not end the program. */
const isFolder = (path: string): boolean => {
  try {
    return lstatSync(path).isDirectory();
  } catch {
    return false;
  }
};

const codeOf = (error: unknown): string => String((error as NodeJS.ErrnoException).code);

const unwatchable = (root: string, cause: unknown): TsaltError =>
  new TsaltError('watch-failed', `${root} cannot be watched: ${messageOf(cause)}.`, {
    cause,
    ...(['ENOSPC', 'EMFILE'].includes(codeOf(cause))
      ? { hint: 'The system limits watched folders: see fs.inotify in `sysctl -a`.' }
      : {}),
  });
