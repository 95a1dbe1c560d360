import { randomUUID } from 'node:crypto';
import { lstat, open, readFile, realpath, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve, sep } from 'node:path';
import type { Dict } from '../../data/values/value.ts';
import { makeFolder } from '../../trust/make-folder.ts';
import type { SdbDriver, SdbWorld } from '../driver.ts';

/** `driver: file`: one private file for each key below the folder `dir`. */
export const fileDriver: SdbDriver = {
  get: async (key, profile, world) => {
    const root = rootOf(profile, world);
    const file = inside(root, key);
    const found = await lstat(file).catch(() => undefined);
    if (found === undefined || found.isDirectory()) return null;
    const real = await realpath(file);
    if (!real.startsWith((await realpath(root)) + sep)) throw outside();
    const { mode } = await lstat(real);
    if ((mode & 0o077) !== 0) throw new Error(`others may read ${real}: chmod 600 ${real}`);
    return (await readFile(real, 'utf8')).replace(/\r?\n$/, '');
  },
  set: async (key, value, profile, world) => {
    const file = inside(rootOf(profile, world), key);
    makeFolder(dirname(file), 0o700);
    const draft = join(dirname(file), `.${randomUUID()}`);
    try {
      const handle = await open(draft, 'wx', 0o600);
      try {
        await handle.writeFile(String(value));
        await handle.sync();
      } finally {
        await handle.close();
      }
      await rename(draft, file);
    } finally {
      await rm(draft, { force: true });
    }
    return true;
  },
  delete: async (key, profile, world) => {
    const file = inside(rootOf(profile, world), key);
    if ((await lstat(file).catch(() => undefined))?.isFile() !== true) return false;
    await rm(file);
    return true;
  },
};

const rootOf = (profile: Dict, { dir }: SdbWorld): string => {
  const folder = profile.get('dir');
  if (typeof folder !== 'string' || folder === '') throw new Error("its profile needs a 'dir'");
  return resolve(dir, folder);
};

const inside = (root: string, key: string): string => {
  const file = resolve(root, key);
  if (!file.startsWith(root + sep)) throw outside();
  return file;
};

const outside = (): Error => new Error('the key leads out of the folder');
