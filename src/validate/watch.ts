import { existsSync, type FSWatcher, watch } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';

export type WatchedPaths = {
  /** Folders with everything below them. */
  readonly folders: readonly string[];
  readonly files: readonly string[];
};

/** A save is several events: this many milliseconds without another one end it. */
const quiet = 30;

/**
 * Yields the absolute paths of changed files; the first time, none. Changes that happen while the
 * caller works are yielded together afterwards.
 *
 * @param places read again after each change
 */
export const watchProject = async function* (
  places: () => WatchedPaths,
): AsyncGenerator<readonly string[]> {
  const changed = new Set<string>();
  let wake: () => void = () => undefined;
  let timer: NodeJS.Timeout | undefined;
  const note = (path: string): void => {
    changed.add(path);
    clearTimeout(timer);
    timer = setTimeout(() => wake(), quiet);
  };
  let key = '';
  let watchers: FSWatcher[] = [];
  try {
    for (let first = true; ; first = false) {
      const next = places();
      if (JSON.stringify(next) !== key) {
        for (const one of watchers) one.close();
        watchers = watchAll(next, note);
        key = JSON.stringify(next);
      }
      if (!first && changed.size === 0)
        await new Promise<void>(done => {
          wake = done;
        });
      const paths = [...changed];
      changed.clear();
      yield paths;
    }
  } finally {
    clearTimeout(timer);
    for (const one of watchers) one.close();
  }
};

const watchAll = ({ folders, files }: WatchedPaths, note: (path: string) => void): FSWatcher[] => {
  const trees = [...new Set(folders)].filter(existsSync).map(folder =>
    watch(folder, { recursive: true }, (_, name) => {
      if (name !== null && !isSwap(name)) note(resolve(folder, name));
    }),
  );
  // A folder is watched for its file: editors replace the file by a new one.
  const single = [...new Set(files)].filter(path => existsSync(dirname(path)));
  const others = single.map(path =>
    watch(dirname(path), (_, name) => {
      if (name === basename(path)) note(resolve(path));
    }),
  );
  const all = [...trees, ...others];
  // A folder that is removed ends its watcher: the others go on.
  for (const one of all) one.on('error', () => one.close());
  return all;
};

/** Files that editors write beside the one that is saved. */
const isSwap = (name: string): boolean => /(~|\.sw[a-z]|\.tmp)$|(^|\/)(4913|\.#|#)/.test(name);
