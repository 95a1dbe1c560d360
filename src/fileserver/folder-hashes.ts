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

const numbersOf = ({ size, mtimeMs, ctimeMs, ino, dev }: FileStamp): readonly number[] => [
  size,
  mtimeMs,
  ctimeMs,
  ino,
  dev,
];

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
  readonly #places: ReadonlyMap<string, number>;
  readonly #names: string[] = [];
  readonly #numbers: number[] = [];
  readonly #hashes: string[] = [];
  #isChanged = false;

  /** @param folder identifies it: the folders of its saltenv, and its path in them */
  constructor(store: HashStore, folder: string) {
    this.#store = store;
    this.#folder = folder;
    this.#kept = store.read(folder);
    this.#places = new Map(this.#kept?.names.map((name, at) => [name, at]));
  }

  /** Returns the hash of a file that has not changed since an earlier run. */
  get(name: string, stamp: FileStamp): string | undefined {
    const at = this.#places.get(name);
    if (at === undefined || !this.#kept) return undefined;
    const { numbers, hashes } = this.#kept;
    const isSame = numbersOf(stamp).every(
      (value, place) => numbers[at * stampLength + place] === value,
    );
    if (!isSame) return undefined;
    const hash = hashes.toString('hex', at * hashLength, (at + 1) * hashLength);
    this.#push(name, stamp, hash);
    return hash;
  }

  /**
   * Keeps a hash for later runs.
   *
   * @param stamp the file's stamp before it was read
   * @param now when it was looked at
   */
  put(name: string, stamp: FileStamp, hash: string, now: number = Date.now()): void {
    const { ctimeMs, mtimeMs, ino } = stamp;
    if (now - Math.max(ctimeMs, mtimeMs) < settled || !Number.isSafeInteger(ino)) return;
    this.#isChanged = true;
    this.#push(name, stamp, hash);
  }

  /** Ends the listing: files that are gone are kept no longer. */
  end(): void {
    const { length } = this.#names;
    if (!this.#isChanged && length === (this.#kept?.names.length ?? 0)) return;
    this.#store.add(this.#folder, {
      names: this.#names,
      numbers: Float64Array.from(this.#numbers),
      hashes: Buffer.from(this.#hashes.join(''), 'hex'),
    });
  }

  #push(name: string, stamp: FileStamp, hash: string): void {
    this.#names.push(name);
    this.#numbers.push(...numbersOf(stamp));
    this.#hashes.push(hash);
  }
}
