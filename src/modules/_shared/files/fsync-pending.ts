import { spawn } from 'node:child_process';
import { resolve as absolute, dirname, isAbsolute } from 'node:path';
import { messageOf } from '../../../protocol/error.ts';
import { closeSync, constants, fsync, openSync } from '../safe-fs/fs.ts';
import { statOf } from './file-paths.ts';

/** A file may be in it twice: to keep a set of many files takes longer than to make one when it is due. */
let unsettled: string[] = [];
let last: Promise<string[]> = Promise.resolve([]);

/** This file is to reach the disk before the run ends; until then nothing waits for it. */
export const fsyncLater = (path: string): void => {
  unsettled.push(isAbsolute(path) ? path : absolute(path));
};

/**
 * Waits until the files of `fsyncLater` are on the disk: few of them side by side, many by one sync of
 * their file systems. Returns the errors of files that could not be synced.
 */
export const fsyncPending = (): Promise<string[]> => {
  last = last.then(flush);
  return last;
};

const atOnce = 16;
/** From so many files on, their file systems are synced as a whole. */
const many = 32;
/** Milliseconds for that: it also waits for what other programs have written. */
const patience = 30_000;

const flush = async (): Promise<string[]> => {
  const paths = unsettled;
  unsettled = [];
  if (paths.length >= many && (await syncFileSystems(paths))) return [];
  const files = new Set(paths).values();
  const complaints: string[] = [];
  const worker = async (): Promise<void> => {
    for (const path of files) {
      const complaint = await toDisk(path);
      if (complaint !== undefined) complaints.push(complaint);
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, paths.length) }, worker));
  return complaints;
};

/** Returns whether that worked: not every `sync` can do it. */
const syncFileSystems = async (paths: readonly string[]): Promise<boolean> => {
  if (process.platform !== 'linux') return false;
  const folders = new Map<number, string>();
  for (const folder of new Set(paths.map(path => dirname(path)))) {
    const found = statOf(folder);
    if (found) folders.set(found.dev, folder);
  }
  return folders.size === 0 || succeeds('sync', ['-f', '--', ...folders.values()]);
};

const succeeds = (program: string, args: readonly string[]): Promise<boolean> =>
  new Promise(decide => {
    const child = spawn(program, args, { stdio: 'ignore' });
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      child.unref();
      decide(false);
    }, patience);
    const end = (isDone: boolean): void => {
      clearTimeout(timer);
      decide(isDone);
    };
    child.on('error', () => end(false));
    child.on('exit', code => end(code === 0));
  });

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;

const toDisk = async (path: string): Promise<string | undefined> => {
  let fd: number;
  try {
    fd = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch {
    return undefined; // It was removed or replaced in the meantime.
  }
  try {
    await synced(fd);
    return undefined;
  } catch (error) {
    return `${path} may not outlast a power cut: ${messageOf(error)}`;
  } finally {
    closeSync(fd);
  }
};

/** Without promises of Node, which take 2 ms to load. */
const synced = (fd: number): Promise<void> =>
  new Promise((resolve, reject) => {
    fsync(fd, error => (error ? reject(error) : resolve()));
  });
