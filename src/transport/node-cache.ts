import { chmod, lstat, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { TsaltError } from '../protocol/error.ts';

export type NodeTarget = 'linux-x64' | 'linux-arm64';

/** The cache's folder for Node binaries, private to this user. */
export const nodeFolder = async (cacheDir: string): Promise<string> => {
  const folder = join(cacheDir, 'node');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { uid, mode } = await lstat(folder);
  if (uid !== process.geteuid?.() || mode & 0o022)
    throw new TsaltError('cache-unsafe', `The cache ${folder} can be written by others.`, {
      hint: 'Remove it, or choose another cachedir.',
    });
  if (mode & 0o077) await chmod(folder, 0o700);
  return folder;
};
