import { largestOfMany, mostOfMany, type NamedFile } from '../../protocol/many-files.ts';
import { hashBytes } from '../_shared/files/file-hash.ts';
import type { FetchMany } from '../_shared/sources/fetch-ahead.ts';

/** A file of the control node that `file.list` told about. */
export type ListedSource = {
  readonly path: string;
  readonly saltenv: string;
  readonly sha256: string;
  /** In bytes. */
  readonly size: number;
};

/** Requests at a time: with `mostInRequest`, 8 MB are on their way at most. */
const atOnce = 32;
/** Bytes of the files of one request. */
const mostInRequest = 256 * 1024;

/**
 * Fetches small files that are all needed, and uses each when it arrives. What is fetched ahead for
 * states (`FetchAhead`) is kept until its state runs, and takes some promises for each file.
 *
 * Calls `use` for no file that is larger than `largestOfMany`, that does not come, or that differs from
 * what was listed. Where `use` throws or a request fails, nothing more is requested.
 *
 * @param sources is read while files arrive, so that not all of them need be kept
 * @param use is called with bytes that may be others once it has returned
 */
export const fetchNow = async <Source extends ListedSource>(
  sources: Iterable<Source>,
  fetchMany: FetchMany,
  use: (source: Source, bytes: Buffer) => void,
): Promise<void> => {
  const coming = sources[Symbol.iterator]();
  let isOver = false;
  const batch = (): Source[] => {
    const files: Source[] = [];
    for (let bytes = 0; files.length < mostOfMany && bytes < mostInRequest; ) {
      const { done, value } = coming.next();
      if (done) break;
      if (value.size > largestOfMany) continue;
      files.push(value);
      bytes += value.size;
    }
    return files;
  };
  const worker = async (): Promise<void> => {
    for (let files = batch(); files.length > 0 && !isOver; files = batch())
      try {
        await fetchMany(files.map(nameOf), (at, bytes) => {
          const source = files[at];
          if (source && bytes && hashBytes(bytes) === source.sha256) use(source, bytes);
        });
      } catch {
        isOver = true;
      }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
};

const nameOf = ({ path, saltenv }: ListedSource): NamedFile => [path, saltenv];
