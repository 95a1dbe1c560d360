import type { Stats } from 'node:fs';

/** Identifies the content of a file: a change sets its ctime, which nobody can choose. */
export type FileStamp = Pick<Stats, 'size' | 'mtimeMs' | 'ctimeMs' | 'ino' | 'dev'>;

/** Whether a file has not changed, nor another one taken its place. */
export const isSameFile = (one: FileStamp, other: FileStamp): boolean =>
  one.ctimeMs === other.ctimeMs &&
  one.mtimeMs === other.mtimeMs &&
  one.size === other.size &&
  one.ino === other.ino &&
  one.dev === other.dev;

/** Numbers of each file in `KeptFolder.numbers`. */
export const stampLength = 5;
/** Bytes of each file in `KeptFolder.hashes`. */
export const hashLength = 32;

/** Files of a folder with their hashes, as they were when they were hashed. */
export type KeptFolder = {
  /** Paths in the saltenv. */
  readonly names: readonly string[];
  readonly numbers: Float64Array;
  readonly hashes: Buffer;
};

/** Keeps the hashes of large folders for later runs. */
export type HashStore = {
  /** Returns a folder of an earlier run. */
  readonly read: (folder: string) => KeptFolder | undefined;
  readonly add: (folder: string, kept: KeptFolder) => void;
};

/**
 * Milliseconds for which a file must have stayed as it is when it is hashed. A file system's clock has
 * ticks: a later change within the one of an earlier change would leave the same times.
 */
const settled = 3000;

/** The hashes of a folder's files during a listing: those of earlier runs, and new ones. */
export class FolderHashes {
  readonly #store: HashStore;
  readonly #folder: string;
  readonly #kept: KeptFolder | undefined;
  /** The first kept file that is not before the last one that was looked up. */
  #place = 0;
  /** The places of kept files that have not changed, and new files, in the order of the listing. */
  readonly #files: (number | NewHash)[] = [];
  #isChanged = false;

  /** @param folder identifies it: the folders of its saltenv, and its path in them */
  constructor(store: HashStore, folder: string) {
    this.#store = store;
    this.#folder = folder;
    this.#kept = store.read(folder);
  }

  /**
   * Returns the hash of a file that has not changed since an earlier run. Listings are sorted, and
   * so are those of earlier runs: a file that is looked up after a later one is not found.
   */
  get(name: string, stamp: FileStamp): string | undefined {
    if (!this.#kept) return undefined;
    const { names, numbers, hashes } = this.#kept;
    while ((names[this.#place] ?? name) < name) this.#place += 1;
    const place = this.#place;
    if (names[place] !== name || !isStampAt(numbers, place, stamp)) return undefined;
    this.#files.push(place);
    return hashes.toString('hex', place * hashLength, (place + 1) * hashLength);
  }

  /**
   * Keeps a hash for later runs.
   *
   * @param stamp the file's stamp before it was read
   * @param now when it was looked at
   */
  put(name: string, stamp: FileStamp, sha256: string, now: number = Date.now()): void {
    const { ctimeMs, mtimeMs, ino } = stamp;
    if (now - Math.max(ctimeMs, mtimeMs) < settled || !Number.isSafeInteger(ino)) return;
    this.#isChanged = true;
    this.#files.push({ name, stamp, sha256 });
  }

  /** Ends the listing: files that are gone are kept no longer. */
  end(): void {
    const { length } = this.#files;
    if (!this.#isChanged && length === (this.#kept?.names.length ?? 0)) return;
    const names: string[] = [];
    const numbers = new Float64Array(length * stampLength);
    const hashes = Buffer.alloc(length * hashLength);
    for (const [at, file] of this.#files.entries()) {
      if (typeof file !== 'number') {
        const { size, mtimeMs, ctimeMs, ino, dev } = file.stamp;
        names.push(file.name);
        numbers.set([size, mtimeMs, ctimeMs, ino, dev], at * stampLength);
        hashes.write(file.sha256, at * hashLength, 'hex');
      } else if (this.#kept) {
        names.push(this.#kept.names[file] ?? '');
        const [from, to] = [file * stampLength, (file + 1) * stampLength];
        numbers.set(this.#kept.numbers.subarray(from, to), at * stampLength);
        this.#kept.hashes.copy(hashes, at * hashLength, file * hashLength, (file + 1) * hashLength);
      }
    }
    this.#store.add(this.#folder, { names, numbers, hashes });
  }
}

type NewHash = { readonly name: string; readonly stamp: FileStamp; readonly sha256: string };

const isStampAt = (
  numbers: Float64Array,
  place: number,
  { size, mtimeMs, ctimeMs, ino, dev }: FileStamp,
): boolean => {
  const at = place * stampLength;
  return (
    numbers[at] === size &&
    numbers[at + 1] === mtimeMs &&
    numbers[at + 2] === ctimeMs &&
    numbers[at + 3] === ino &&
    numbers[at + 4] === dev
  );
};
