import {
  chmodSync,
  lchownSync,
  lstatSync,
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

/** The snapshot of a path that the account of the run may read; a file's content is held in memory. */
type Readable = { readonly stat: Stats } & (
  | { readonly kind: 'file'; readonly content: Buffer }
  | { readonly kind: 'link'; readonly target: string }
  | { readonly kind: 'folder' }
);

/** A path that it may not read, such as /etc/sudoers; without `stat` if its folder is closed to it. */
type Unreadable = { readonly kind: 'unreadable'; readonly stat: Stats | undefined };

type Kept = Readable | Unreadable;

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
    bytes += stat?.isFile() ? stat.size : 0;
    if (bytes > mostBytes)
      throw new Error(`${path} and the other files for the rollback take more than 64 MiB`);
    const kept = read(path, stat);
    if (kept) entries.set(path, kept);
  }
  return { roots, entries };
};

const read = (path: string, stat: Stats | undefined): Kept | undefined => {
  if (!stat) return { kind: 'unreadable', stat };
  if (stat.isDirectory()) {
    const isOpen = unlessDenied(() => readdirSync(path)) !== undefined;
    return isOpen ? { stat, kind: 'folder' } : { stat, kind: 'unreadable' };
  }
  if (stat.isSymbolicLink()) return { stat, kind: 'link', target: readlinkSync(path) };
  if (!stat.isFile()) return undefined;
  const content = unlessDenied(() => readFileSync(path));
  return content ? { stat, kind: 'file', content } : { stat, kind: 'unreadable' };
};

/** Returns the result of a read; undefined if this account may not read that. */
const unlessDenied = <T>(work: () => T): T | undefined => {
  try {
    return work();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EACCES') return undefined;
    throw error;
  }
};

/**
 * Lists everything at and below these paths that can be listed, folders before their contents.
 * Without `Stats` it is in a folder that this account may not enter.
 */
const walk = (paths: readonly string[]): [string, Stats | undefined][] =>
  paths.flatMap(path => {
    const found = unlessDenied(() => [lstatSync(path, { throwIfNoEntry: false })] as const);
    if (!found) return [[path, undefined]];
    const [stat] = found;
    if (!stat) return [];
    const names = stat.isDirectory() ? unlessDenied(() => readdirSync(path)) : undefined;
    return [[path, stat], ...walk((names ?? []).map(name => join(path, name)))];
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
  const closed = [...entries].filter(([, { kind }]) => kind === 'unreadable');
  const added = walk(roots).flatMap(([path, stat]) =>
    stat && !entries.has(path) && !closed.some(([folder]) => path.startsWith(`${folder}/`))
      ? [[path, stat] as const]
      : [],
  );
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
  if (now && kept.stat ? isUntouched(now, kept.stat) : now === kept.stat) return false;
  if (kept.kind === 'unreadable') throw new Error('before the run this account could not read it');
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

const kindOf = (stat: Stats): Readable['kind'] | undefined => {
  if (stat.isDirectory()) return 'folder';
  if (stat.isSymbolicLink()) return 'link';
  return stat.isFile() ? 'file' : undefined;
};

/** @returns whether anything was written */
const putContent = (path: string, kept: Readable, there: boolean): boolean => {
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
const putOwner = (path: string, { kind, stat }: Readable): boolean => {
  const now = lstatOf(path);
  const isOwner = now?.uid === stat.uid && now.gid === stat.gid;
  if (!isOwner) lchownSync(path, stat.uid, stat.gid);
  const isMode = kind === 'link' || now?.mode === stat.mode;
  // After the owner, since chown clears some mode bits.
  if (kind !== 'link' && !(isMode && isOwner)) chmodSync(path, stat.mode & 0o7777);
  return !(isOwner && isMode);
};
