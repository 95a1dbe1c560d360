import { randomBytes } from 'node:crypto';
import { lstatSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { TsaltError } from '../protocol/error.ts';
import { checkTrusted } from '../trust/check.ts';
import { makeFolder } from '../trust/make-folder.ts';

/**
 * Creates a folder that only this user can enter.
 * @throws `TsaltError('cache-dir')` if it is a link, belongs to another user, or is open to others
 */
export const privateDir = (path: string): string => {
  makeFolder(path, 0o700);
  const stat = lstatSync(path);
  const mine = process.getuid === undefined || stat.uid === process.getuid();
  if (stat.isDirectory() && mine && (stat.mode & 0o022) === 0) {
    checkTrusted(path, 'The cache folder');
    return path;
  }
  throw new TsaltError('cache-dir', `The cache folder ${path} is not a private folder of yours`, {
    hint: `Remove it or make it private: chmod 700 ${path}`,
  });
};

/** Writes a file atomically, readable by this user only. */
export const writePrivate = (path: string, content: string | Uint8Array): Promise<void> =>
  writeAtomically(path, content, 0o600);

/** Writes a file atomically. */
export const writeAtomically = async (
  path: string,
  content: string | Uint8Array,
  mode: number,
): Promise<void> => {
  const temporary = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  const file = await open(temporary, 'wx', 0o600);
  try {
    await file.writeFile(content);
    if (mode !== 0o600) await file.chmod(mode);
    await file.sync();
    await file.close();
    await rename(temporary, path);
  } catch (error) {
    await file.close().catch(() => undefined);
    await rm(temporary, { force: true });
    throw error;
  }
};
