import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

const keepDays = 30;

/**
 * Removes files of a cache folder that no run wrote for a month, and the oldest beyond a size.
 *
 * @param most bytes that may stay
 */
export const pruneCache = async (folder: string, most: number): Promise<void> => {
  const names = await readdir(folder);
  const aged = await Promise.all(
    names.map(async name => {
      const path = join(folder, name);
      // Another run may remove it meanwhile.
      const found = await stat(path).catch(() => undefined);
      return { path, time: found?.mtimeMs ?? 0, size: found?.size ?? 0 };
    }),
  );
  const oldest = Date.now() - keepDays * 24 * 60 * 60 * 1000;
  let kept = 0;
  for (const { path, time, size } of aged.sort((one, other) => other.time - one.time)) {
    kept += size;
    if (kept > most || time < oldest) await rm(path, { force: true });
  }
};
