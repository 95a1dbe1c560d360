import { existsSync, watch } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { watchTree } from '../fileserver/watch-tree.ts';

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
  let closers: (() => void)[] = [];
  try {
    for (let first = true; ; first = false) {
      const next = places();
      if (JSON.stringify(next) !== key) {
        for (const close of closers) close();
        closers = watchAll(next, note);
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
    for (const close of closers) close();
  }
};

const watchAll = (
  { folders, files }: WatchedPaths,
  note: (path: string) => void,
): (() => void)[] => {
  const trees = [...new Set(folders)].filter(existsSync).map(folder =>
    watchTree(
      resolve(folder),
      path => {
        if (!isSwap(path)) note(path);
      },
      path => /[\\/](?:\.git|node_modules)$/.test(path),
    ),
  );
  // A folder is watched for its file: editors replace the file by a new one.
  const single = [...new Set(files)].filter(path => existsSync(dirname(path)));
  const others = single.map(path => {
    const watcher = watch(dirname(path), (_, name) => {
      if (name === basename(path)) note(resolve(path));
    });
    watcher.on('error', () => watcher.close());
    return () => watcher.close();
  });
  return [...trees, ...others];
};

/** Files that editors write beside the one that is saved. */
const isSwap = (name: string): boolean => /(~|\.sw[a-z]|\.tmp)$|(^|\/)(4913|\.#|#)/.test(name);
