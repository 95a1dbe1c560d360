import { chmod, lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { TsaltError } from '../protocol/error.ts';
import { checkTrusted } from '../trust/check.ts';
import { makeFolder } from '../trust/make-folder.ts';

/** The platforms for which there are Node binaries. */
export const nodeTargets = ['linux-x64', 'linux-arm64'] as const;

export type NodeTarget = (typeof nodeTargets)[number];

export const isNodeTarget = (text: string): text is NodeTarget =>
  (nodeTargets as readonly string[]).includes(text);

/** Returns the name of a binary in the cache. */
export const binaryName = (version: string, target: NodeTarget): string =>
  `node-v${version}-${target}`;

/** Returns the cache's folder for Node binaries, private to this user. */
export const nodeFolder = async (cacheDir: string): Promise<string> => {
  const folder = join(cacheDir, 'node');
  makeFolder(folder, 0o700);
  const { uid, mode } = await lstat(folder);
  if (uid !== process.geteuid?.() || mode & 0o022)
    throw new TsaltError('cache-unsafe', `The cache ${folder} can be written by others.`, {
      hint: 'Remove it, or choose another cachedir.',
    });
  checkTrusted(folder, 'The cache folder');
  if (mode & 0o077) await chmod(folder, 0o700);
  return folder;
};

/** Files that a killed process leaves in the cache; its process number is in the name. */
const half = /^\.fetch-(\d+)-|^node-v.*-linux-\w+\.(\d+)$|\.gz\.(\d+)-[0-9a-f]+$/;

/** Removes unfinished files of processes that no longer exist. */
export const discardHalves = async (folder: string): Promise<void> => {
  for (const name of await readdir(folder)) {
    const [, ...numbers] = half.exec(name) ?? [];
    const pid = Number(numbers.find(number => number !== undefined) ?? process.pid);
    if (pid !== process.pid && !isAlive(pid))
      await rm(join(folder, name), { recursive: true, force: true });
  }
};

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
};
