import {
  existsSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { TsaltError } from '../protocol/error.ts';
import { cannotWrite } from '../trust/spare-cache.ts';
import { packageRoot } from './locate.ts';
import { unpackSources } from './packed-sources.ts';
import { privateDir } from './private-dir.ts';

/** Set by the build: names the packed sources. */
declare const sourcesId: string;

const day = 24 * 3600 * 1000;
/** Sources of a version that has not run for this long are removed. */
const longestUnused = 30 * day;

let known: string | undefined;

/**
 * Returns the folder whose `src` contains the sources that artifacts are bundled from: the package
 * itself in a clone. In the npm package these are one compressed file (`npm run build`), and the
 * folder is a private one of the user's cache, filled when a version runs for the first time.
 *
 * @throws `TsaltError('no-package')` when the installation is incomplete
 */
export const sourceRoot = (): string => {
  known ??= locate();
  return known;
};

/** Whether the name of a folder of sources identifies its content: unpacked ones are never changed. */
export const isUnpacked = (root: string): boolean =>
  typeof sourcesId !== 'undefined' && basename(root) === folderName(sourcesId);

const folderName = (id: string): string => `sources-${id}`;

const locate = (): string => {
  const root = packageRoot();
  if (existsSync(join(root, 'src', 'runtime'))) return root;
  const packed = join(root, 'dist', 'prebuilt', 'sources.br');
  if (typeof sourcesId === 'undefined' || !existsSync(packed))
    throw new TsaltError('no-package', `tsalt-ssh does not find its own sources in ${root}`, {
      kind: 'internal',
      hint: 'Install the package again.',
    });
  return unpackedSources(packed, sourcesId);
};

/**
 * Returns the folder of unpacked sources, and unpacks them unless a former run has done so.
 *
 * @param packed the file of the packed sources
 * @param id names these sources
 * @param home the user's cache folder
 */
export const unpackedSources = (
  packed: string,
  id: string,
  home: string = process.env.XDG_CACHE_HOME || join(homedir(), '.cache'),
): string => {
  try {
    return inCache(packed, privateDir(join(home, 'tsalt-ssh')), folderName(id));
  } catch (error) {
    if (!cannotWrite(home, error)) throw error;
    return inTemporary(packed, error);
  }
};

const inCache = (packed: string, cache: string, name: string): string => {
  const folder = join(cache, name);
  if (existsSync(folder)) {
    privateDir(folder);
    if (Date.now() - statSync(folder).mtimeMs > day) utimesSync(folder, new Date(), new Date());
    return folder;
  }
  // A folder of that name is always complete.
  const partial = mkdtempSync(`${folder}.`);
  try {
    unpackSources(packed, partial);
    renameSync(partial, folder);
  } catch (error) {
    rmSync(partial, { recursive: true, force: true });
    // Another run may have unpacked them meanwhile.
    if (!existsSync(folder)) throw error;
    privateDir(folder);
  }
  prune(cache, name);
  return folder;
};

/** Removes sources of versions that nobody runs any more, and partial ones of ended runs. */
const prune = (cache: string, current: string): void => {
  for (const name of readdirSync(cache)) {
    if (!/^sources-[0-9a-f]{32}(?:\.\w+)?$/.test(name) || name === current) continue;
    const folder = join(cache, name);
    try {
      const age = Date.now() - statSync(folder).mtimeMs;
      if (age > (name.includes('.') ? day : longestUnused))
        rmSync(folder, { recursive: true, force: true });
    } catch {
      // Another run has removed it.
    }
  }
};

/** For a cache that cannot be written: a folder that is removed when the program ends. */
const inTemporary = (packed: string, cause: NodeJS.ErrnoException): string => {
  for (const place of new Set([tmpdir(), '/dev/shm', '/var/tmp']))
    try {
      const folder = mkdtempSync(join(place, 'tsalt-sources-'));
      process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
      unpackSources(packed, folder);
      return folder;
    } catch (error) {
      if (!cannotWrite(place, error)) throw error;
    }
  throw new TsaltError('cache-dir', `tsalt-ssh cannot unpack its sources: ${cause.message}`, {
    hint: 'Free some space, or name another folder by XDG_CACHE_HOME.',
  });
};
