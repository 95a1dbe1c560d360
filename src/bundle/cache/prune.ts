import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

const keepDays = 30;

/**
 * Removes artifacts and unpacked archives that were made long ago, all files of one hash together.
 * A run that still needs one builds it again; files that cannot be removed stay.
 * @param keep the hash that was just made
 */
export const pruneArtifacts = async (dir: string, keep: string): Promise<void> => {
  const oldest = Date.now() - keepDays * 24 * 60 * 60 * 1000;
  await pruneIn(dir, oldest, keep);
  await pruneIn(join(dir, 'zip'), oldest, keep);
};

const pruneIn = async (dir: string, oldest: number, keep: string): Promise<void> => {
  const byHash = new Map<string, string[]>();
  for (const name of await readdir(dir).catch(() => [])) {
    const hash = /^[0-9a-f]{64}/.exec(name)?.[0];
    if (hash !== undefined && hash !== keep) byHash.set(hash, [...(byHash.get(hash) ?? []), name]);
  }
  for (const names of byHash.values()) {
    const times = await Promise.all(
      names.map(name =>
        stat(join(dir, name)).then(
          ({ mtimeMs }) => mtimeMs,
          () => 0,
        ),
      ),
    );
    if (Math.max(...times) > oldest) continue;
    for (const name of names)
      await rm(join(dir, name), { recursive: true, force: true }).catch(() => undefined);
  }
};
