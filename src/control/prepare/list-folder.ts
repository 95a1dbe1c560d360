import type { FileRoots } from '../../fileserver/file-roots.ts';
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
  const prefix = prefixOf(folder);
  return roots
    .list(folder.saltenv)
    .filter(file => file.startsWith(prefix))
    .map(file => file.slice(prefix.length));
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
  const names = listFolder(roots, folder);
  const kept = roots.keptHashes(prefix, folder.saltenv, names.length);
  let piece: ListedFile[] = [];
  for (const name of names) {
    if (turns.areOver) await turns.pause();
    const file = roots.listed(`${prefix}${name}`, folder.saltenv, kept);
    const { size = 0, mode = 0 } = file ?? {};
    const sha256 = !file || size > hashLimit ? null : hashOf(file);
    piece.push([name, size, mode, sha256 instanceof Promise ? await sha256 : sha256]);
    if (piece.length < pieceSize) continue;
    yield piece;
    piece = [];
  }
  kept?.end();
  if (piece.length > 0) yield piece;
}

/** Hashes a listed file; null if it cannot be read: its own state will report that. */
const hashOf = ({
  sha256,
}: NonNullable<ReturnType<FileRoots['listed']>>): string | null | Promise<string | null> => {
  try {
    const hash = sha256();
    return typeof hash === 'string' ? hash : hash.catch(() => null);
  } catch {
    return null;
  }
};
