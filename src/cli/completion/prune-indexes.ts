import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

const mostIndexes = 50;

/** Removes the oldest indexes: every folder in which a user pressed Tab leaves one behind. */
export const pruneIndexes = (folder: string): void => {
  const files = readdirSync(folder).map(name => {
    const path = join(folder, name);
    return { path, time: statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0 };
  });
  for (const { path } of files.sort((a, b) => b.time - a.time).slice(mostIndexes))
    rmSync(path, { force: true });
};
