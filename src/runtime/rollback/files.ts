import {
  chmodSync,
  lchownSync,
  lutimesSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  type Stats,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { writeAtomic } from '../../modules/_shared/files/atomic-write.ts';
import { lstatOf } from '../../modules/_shared/files/file-paths.ts';
import { attempt, type RestoreResult } from './restore.ts';

/** The snapshot of a path; a file's content is held in memory. */
type Kept = { readonly stat: Stats } & (
  | { readonly kind: 'file'; readonly content: Buffer }
  | { readonly kind: 'link'; readonly target: string }
  | { readonly kind: 'folder' }
);

/** A snapshot of files and folders; a root that did not exist has no entry. */
export type FilesSnapshot = {
  readonly roots: readonly string[];
  readonly entries: ReadonlyMap<string, Kept>;
};

/** Limit of a snapshot in memory. A network's configuration is far smaller. */
const mostBytes = 64 * 1024 * 1024;

/**
 * Takes a snapshot of files and folders, recursively. Devices, sockets and the like are left out.
 *
 * @throws Error if it exceeds 64 MiB
 */
export const snapshotFiles = (roots: readonly string[]): FilesSnapshot => {
  const entries = new Map<string, Kept>();
  let bytes = 0;
  for (const [path, stat] of walk(roots)) {
    bytes += stat.isFile() ? stat.size : 0;
    if (bytes > mostBytes)
      throw new Error(`${path} and the other files for the rollback take more than 64 MiB`);
    const kept = read(path, stat);
    if (kept) entries.set(path, kept);
  }
  return { roots, entries };
};

const read = (path: string, stat: Stats): Kept | undefined => {
  if (stat.isDirectory()) return { stat, kind: 'folder' };
  if (stat.isSymbolicLink()) return { stat, kind: 'link', target: readlinkSync(path) };
  return stat.isFile() ? { stat, kind: 'file', content: readFileSync(path) } : undefined;
};

/** Lists everything at and below these paths, folders before their contents. */
const walk = (paths: readonly string[]): [string, Stats][] =>
  paths.flatMap(path => {
    const stat = lstatOf(path);
    if (!stat) return [];
    const inner = stat.isDirectory() ? readdirSync(path).map(name => join(path, name)) : [];
    return [[path, stat], ...walk(inner)];
  });

/**
 * Restores files: content, owner, mode and time. Removes new files, unless `isForeign` returns that
 * they belong to something else.
 */
export const restoreFiles = async (
  { roots, entries }: FilesSnapshot,
  isForeign: (paths: readonly string[]) => Promise<ReadonlySet<string>>,
): Promise<RestoreResult> => {
  const outcome: RestoreResult = { restored: [], problems: [] };
  const added = walk(roots).filter(([path]) => !entries.has(path));
  const foreign = await isForeign(added.map(([path]) => path));
  for (const [path, stat] of added.reverse())
    await attempt(outcome, path, () => !foreign.has(path) && remove(path, stat));
  for (const [path, kept] of entries) await attempt(outcome, path, () => putBack(path, kept));
  return outcome;
};

/** Removes a path. A folder that still contains foreign files is left in place. */
const remove = (path: string, stat: Stats): boolean => {
  if (stat.isDirectory() && readdirSync(path).length > 0) return false;
  rmSync(path, { recursive: true, force: true });
  return true;
};

const putBack = (path: string, kept: Kept): boolean => {
  const now = lstatOf(path);
  if (now && isUntouched(now, kept.stat)) return false;
  const there = now !== undefined && kindOf(now) === kept.kind;
  if (now && !there) rmSync(path, { recursive: true, force: true });
  const changed = putContent(path, kept, there);
  const owned = putOwner(path, kept);
  if (changed && kept.kind === 'file') lutimesSync(path, kept.stat.atime, kept.stat.mtime);
  return changed || owned;
};

/** ctime is set by the kernel and covers content, owner, mode and attributes. */
const isUntouched = (now: Stats, before: Stats): boolean =>
  now.ino === before.ino && now.ctimeMs === before.ctimeMs;

const kindOf = (stat: Stats): Kept['kind'] | undefined => {
  if (stat.isDirectory()) return 'folder';
  if (stat.isSymbolicLink()) return 'link';
  return stat.isFile() ? 'file' : undefined;
};

/** @returns whether anything was written */
const putContent = (path: string, kept: Kept, there: boolean): boolean => {
  const { uid, gid, mode } = kept.stat;
  if (kept.kind === 'folder') {
    if (!there) mkdirSync(path, { mode: 0o700 });
    return !there;
  }
  if (kept.kind === 'file') {
    if (there && readFileSync(path).equals(kept.content)) return false;
    writeAtomic(path, kept.content, { uid, gid, mode: mode & 0o7777 });
    return true;
  }
  if (there && readlinkSync(path) === kept.target) return false;
  rmSync(path, { force: true });
  symlinkSync(kept.target, path);
  return true;
};

/** @returns whether they had changed */
const putOwner = (path: string, { kind, stat }: Kept): boolean => {
  const now = lstatOf(path);
  const isOwner = now?.uid === stat.uid && now.gid === stat.gid;
  if (!isOwner) lchownSync(path, stat.uid, stat.gid);
  const isMode = kind === 'link' || now?.mode === stat.mode;
  // After the owner, since chown clears some mode bits.
  if (kind !== 'link' && !(isMode && isOwner)) chmodSync(path, stat.mode & 0o7777);
  return !(isOwner && isMode);
};
