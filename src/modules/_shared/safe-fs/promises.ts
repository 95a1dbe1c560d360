/** `node:fs/promises` for modules, as `fs.ts` is `node:fs`. Files here are small but for `open`. */
import * as node from 'node:fs/promises';
import * as safe from './fs.ts';
import { constants } from './fs.ts';
import { openParent, renamed } from './open-parent.ts';
import { RefusedPath } from './refused.ts';

// biome-ignore lint/performance/noBarrelFile: as in fs.ts
export { stat, statfs } from 'node:fs/promises';

export const readFile = (async (path: string, options?: BufferEncoding) =>
  safe.readFileSync(path, options)) as typeof node.readFile;

export const writeFile = async (
  path: string,
  data: string | Uint8Array,
  options?: BufferEncoding | { mode?: number; flag?: string; encoding?: BufferEncoding },
): Promise<void> => safe.writeFileSync(path, data, options);

export const chmod = async (path: string, mode: number): Promise<void> =>
  safe.chmodSync(path, mode);

export const chown = async (path: string, uid: number, gid: number): Promise<void> =>
  safe.chownSync(path, uid, gid);

export const copyFile = async (from: string, to: string): Promise<void> =>
  safe.copyFileSync(from, to);

export const mkdir = async (
  path: string,
  options?: { recursive?: boolean; mode?: number },
): Promise<void> => {
  safe.mkdirSync(path, options);
};

export const rm = async (
  path: string,
  options?: { recursive?: boolean; force?: boolean },
): Promise<void> => safe.rmSync(path, options);

export const symlink = async (target: string, path: string): Promise<void> =>
  safe.symlinkSync(target, path);

/** Opens a file, for what is too large to be held. */
export const open = async (
  path: string,
  flags: string | number = 'r',
): Promise<node.FileHandle> => {
  const noFollow = typeof flags === 'number' && (flags & constants.O_NOFOLLOW) !== 0;
  const place = openParent(path, !noFollow);
  try {
    if (place.isRoots) return await node.open(place.path, flags);
    const bits = typeof flags === 'number' ? flags : constants.O_RDONLY;
    const file = await node.open(place.path, bits | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const found = await file.stat();
    if (found.isFile()) return file;
    await file.close();
    throw new RefusedPath(`${place.shown} is not a regular file: it is not opened.`);
  } catch (error) {
    throw renamed(error, place);
  } finally {
    place.close();
  }
};
