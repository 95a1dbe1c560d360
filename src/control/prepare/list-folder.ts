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
  let piece: ListedFile[] = [];
  for (const name of listFolder(roots, folder)) {
    await turns.pause();
    const file = `${prefix}${name}`;
    const { size = 0, mode = 0 } = roots.find(file, folder.saltenv) ?? {};
    const sha256 = size > hashLimit ? null : await hashIn(roots, file, folder.saltenv);
    piece.push([name, size, mode, sha256]);
    if (piece.length < pieceSize) continue;
    yield piece;
    piece = [];
  }
  if (piece.length > 0) yield piece;
}

/** Hashes a listed file; null if it cannot be read: its own state will report that. */
const hashIn = (roots: FileRoots, file: string, saltenv: string): Promise<string | null> =>
  (async () => roots.hash(file, saltenv))().catch(() => null);
