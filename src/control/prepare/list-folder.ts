import type { LookedAt } from '../../fileserver/file-finder.ts';
import type { FileRoots } from '../../fileserver/file-roots.ts';
import type { FolderHashes } from '../../fileserver/folder-hashes.ts';
import type { ListedFile } from '../../protocol/job.ts';
import { Turns } from '../../protocol/turns.ts';

/** A folder in the file roots: a clean path, '' for all of them. */
export type RootsFolder = { readonly path: string; readonly saltenv: string };

/** Larger files are hashed only when their state runs, so that the run starts sooner. */
export const hashLimit = 64 * 1024 * 1024;

/** Milliseconds after which other hosts are answered while a large folder is listed. */
const turnLength = 20;

const prefixOf = ({ path }: RootsFolder): string => (path === '' ? '' : `${path}/`);

/** Lists the files below a folder, by their paths in it. */
export const listFolder = (roots: FileRoots, folder: RootsFolder): string[] => {
  const { length } = prefixOf(folder);
  return filesBelow(roots, folder).map(file => file.slice(length));
};

/** The paths of the files below a folder, which are next to each other in a sorted list. */
const filesBelow = (roots: FileRoots, folder: RootsFolder): readonly string[] => {
  const prefix = prefixOf(folder);
  const all = roots.list(folder.saltenv);
  return prefix === ''
    ? all
    : all.slice(
        firstFrom(all, file => file >= prefix),
        firstFrom(all, file => file > prefix && !file.startsWith(prefix)),
      );
};

/** The place of the first of sorted files from which on a test holds. */
const firstFrom = (files: readonly string[], holds: (file: string) => boolean): number => {
  let [low, high] = [0, files.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(files[middle] ?? '')) high = middle;
    else low = middle + 1;
  }
  return low;
};

/** Lists the files below a folder with their hashes: their states need not ask for them. */
export const listWithHashes = async (
  roots: FileRoots,
  folder: RootsFolder,
): Promise<ListedFile[]> => {
  const listed: ListedFile[] = [];
  for await (const piece of hashedPieces(roots, folder)) listed.push(...piece);
  return listed;
};

/** Files of a piece: comparing them takes the host some 20 ms. */
const pieceSize = 250;

/** As `listWithHashes`, in pieces: the host compares the first files while others are hashed. */
export async function* hashedPieces(
  roots: FileRoots,
  folder: RootsFolder,
): AsyncGenerator<ListedFile[]> {
  const turns = new Turns(turnLength);
  const prefix = prefixOf(folder);
  const files = filesBelow(roots, folder);
  const kept = roots.keptHashes(prefix, folder.saltenv, files.length);
  let piece: ListedFile[] = [];
  for (const path of files) {
    if (turns.areOver) await turns.pause();
    const found = roots.listed(path, folder.saltenv);
    const { size, mode } = found?.file ?? none;
    const sha256 = !found || size > hashLimit ? null : hashOf(roots, found, kept);
    const name = path.slice(prefix.length);
    piece.push([name, size, mode, sha256 instanceof Promise ? await sha256 : sha256]);
    if (piece.length < pieceSize) continue;
    yield piece;
    piece = [];
  }
  kept?.end();
  if (piece.length > 0) yield piece;
}

const none = { size: 0, mode: 0 };

/** Hashes a listed file; null if it cannot be read: its own state will report that. */
const hashOf = (
  roots: FileRoots,
  found: LookedAt,
  kept: FolderHashes | undefined,
): string | null | Promise<string | null> => {
  try {
    const hash = roots.hashOf(found, kept);
    return typeof hash === 'string' ? hash : hash.catch(() => null);
  } catch {
    return null;
  }
};
