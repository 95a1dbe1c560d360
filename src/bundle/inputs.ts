import { createHash } from 'node:crypto';
import { existsSync, readFileSync, type Stats, statSync } from 'node:fs';

/** The metadata of a file that a build read, so that a later run detects changes by a few stats. */
export type InputMetadata = {
  readonly path: string;
  readonly stat: string;
  readonly sha256: string;
};

/** Timestamps this close to the moment of reading do not prove that the content is the one read. */
const racy = 100;

export const sha256 = (content: string | Uint8Array): string =>
  createHash('sha256').update(content).digest('hex');

export const inputMetadata = (path: string): InputMetadata => {
  const stat = statSync(path);
  return { path, stat: showStat(stat), sha256: sha256(readFileSync(path)) };
};

const showStat = (stat: Stats): string =>
  `${stat.size} ${stat.ino} ${stat.mtimeMs} ${stat.ctimeMs}${isFresh(stat) ? ' fresh' : ''}`;

const isFresh = (stat: Stats): boolean => Date.now() - stat.ctimeMs < racy;

/**
 * Returns the updated stamps if all contents are unchanged; undefined otherwise. Returns the same
 * list if no timestamp changed.
 */
export const refreshInputs = (
  stamps: readonly InputMetadata[],
): readonly InputMetadata[] | undefined => {
  const moved: InputMetadata[] = [];
  for (const stamp of stamps) {
    const stat = statSync(stamp.path, { throwIfNoEntry: false });
    if (!stat?.isFile()) return undefined;
    if (showStat(stat) === stamp.stat && !stamp.stat.endsWith('fresh')) continue;
    const now = inputMetadata(stamp.path);
    if (now.sha256 !== stamp.sha256) return undefined;
    moved.push(now);
  }
  if (moved.length === 0) return stamps;
  const byPath = new Map(moved.map(stamp => [stamp.path, stamp]));
  return stamps.map(stamp => byPath.get(stamp.path) ?? stamp);
};

/** The metadata of a folder, or of a link's target, by which a change is detected. */
export type FolderMetadata = { readonly path: string; readonly stat: string };

export const folderMetadata = (path: string): FolderMetadata => {
  const stat = statSync(path, { throwIfNoEntry: false });
  return { path, stat: stat ? showStat(stat) : 'missing' };
};

export const isSameFolder = ({ path, stat }: FolderMetadata): boolean =>
  !stat.endsWith('fresh') && folderMetadata(path).stat === stat;

export const noneExists = (paths: readonly string[]): boolean => !paths.some(existsSync);
