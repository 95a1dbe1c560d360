import { largestOfMany, mostOfMany, type NamedFile } from '../../protocol/many-files.ts';
import { hashBytes } from '../_shared/files/file-hash.ts';
import { type FetchMany, mostInRequest } from '../_shared/sources/fetch-ahead.ts';

/** A file of the control node, as `file.list` reported it. */
export type ListedSource = {
  readonly path: string;
  readonly saltenv: string;
  readonly sha256: string;
  /** In bytes. */
  readonly size: number;
};

/** Requests at a time: with `mostInRequest`, 8 MB are on their way at most. */
const atOnce = 32;

/** Names of small files, for one request after the other, while more are added. */
export class RequestBatches {
  readonly #ready: string[][] = [];
  readonly #takers: ((names: readonly string[]) => void)[] = [];
  #names: string[] = [];
  #bytes = 0;
  #isEnded = false;

  /** @param size in bytes; a file that is too large for these requests is left out */
  add(name: string, size: number): void {
    if (size > largestOfMany) return;
    this.#names.push(name);
    this.#bytes += size;
    if (this.#names.length === mostOfMany || this.#bytes >= mostInRequest) this.#close();
  }

  /** Nothing more is added. */
  end(): void {
    if (this.#names.length > 0) this.#close();
    this.#isEnded = true;
    for (const take of this.#takers.splice(0)) take([]);
  }

  /** Resolves with the names for the next request; with none after the last one. */
  take(): Promise<readonly string[]> {
    const names = this.#ready.shift();
    if (names || this.#isEnded) return Promise.resolve(names ?? []);
    return new Promise(resolve => {
      this.#takers.push(resolve);
    });
  }

  #close(): void {
    const names = this.#names;
    [this.#names, this.#bytes] = [[], 0];
    const take = this.#takers.shift();
    if (take) take(names);
    else this.#ready.push(names);
  }
}

/**
 * Fetches small files that are all needed, and uses each when it arrives. What is fetched ahead for
 * states (`FetchAhead`) is kept until its state runs, and takes some promises for each file.
 *
 * Calls `use` for no file that does not come, or that differs from what was listed. Where `use` throws
 * or a request fails, nothing more is requested.
 *
 * @param take resolves with the files of the next request; with none after the last one
 * @param use is called with bytes that may be others once it has returned
 */
export const fetchNow = async <Source extends ListedSource>(
  take: () => Promise<readonly Source[]>,
  fetchMany: FetchMany,
  use: (source: Source, bytes: Buffer) => void,
): Promise<void> => {
  let isOver = false;
  const worker = async (): Promise<void> => {
    for (let files = await take(); files.length > 0 && !isOver; files = await take())
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
