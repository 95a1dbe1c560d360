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
  const turns = new Turns(turnLength);
  const prefix = prefixOf(folder);
  for (const name of listFolder(roots, folder)) {
    await turns.pause();
    const file = `${prefix}${name}`;
    const { size = 0, mode = 0 } = roots.find(file, folder.saltenv) ?? {};
    const sha256 = size > hashLimit ? null : await hashIn(roots, file, folder.saltenv);
    listed.push([name, size, mode, sha256]);
  }
  return listed;
};

/** Hashes a listed file; null if it cannot be read: its own state will report that. */
const hashIn = (roots: FileRoots, file: string, saltenv: string): Promise<string | null> =>
  (async () => roots.hash(file, saltenv))().catch(() => null);
