import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { privateDir, writePrivate } from '../../bundle/private-dir.ts';
import {
  type HashStore,
  hashLength,
  type KeptFolder,
  stampLength,
} from '../../fileserver/folder-hashes.ts';
import { isUnwritable } from '../../trust/spare-cache.ts';
import { pruneCache } from './prune-cache.ts';

/** Bytes in the folder, at most; further ones replace the oldest. */
const mostKept = 64_000_000;
/** Bytes of one folder's hashes: those of some 300,000 files. */
const mostOfFolder = 32_000_000;
/** Changed with the meaning of the files. */
const format = 'hashes 1';

/**
 * Keeps the hashes of large folders of the file roots in `cachedir/hashes`. A folder that another
 * user could write is not used. A file that is damaged, or belongs to another user, only costs time.
 */
export class KeptHashes implements HashStore {
  readonly #cachedir: string;
  /** Contents of files, by name, to be written at the end of the run. */
  readonly #added = new Map<string, Uint8Array>();

  constructor(cachedir: string) {
    this.#cachedir = cachedir;
  }

  readonly read = (folder: string): KeptFolder | undefined => {
    try {
      return unpack(readPrivate(join(this.#open(), nameOf(folder))));
    } catch {
      return undefined;
    }
  };

  readonly add = (folder: string, kept: KeptFolder): void => {
    const packed = pack(kept);
    if (packed.length <= mostOfFolder) this.#added.set(nameOf(folder), packed);
  };

  /** Writes what this run has added, and removes what is old. */
  async save(): Promise<void> {
    if (this.#added.size === 0) return;
    try {
      const folder = this.#open();
      for (const [name, content] of this.#added) {
        this.#added.delete(name);
        await writePrivate(join(folder, name), content);
      }
      await pruneCache(folder, mostKept);
    } catch (error) {
      isUnwritable(this.#cachedir, error);
    }
  }

  /** @throws TsaltError another user could write the folder */
  #open(): string {
    return privateDir(join(privateDir(this.#cachedir), 'hashes'));
  }
}

const nameOf = (folder: string): string =>
  createHash('sha256').update(`${format}\0${folder}`).digest('hex');

/**
 * Reads a file of this user that is closed to others.
 *
 * @throws Error for any other file
 */
const readPrivate = (path: string): Buffer => {
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
  const fd = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const { uid, mode } = fstatSync(fd);
    const isMine =
      process.getuid === undefined || (uid === process.getuid() && (mode & 0o077) === 0);
    if (!isMine) throw new Error(`${path} belongs to another user, or is open to others`);
    return readFileSync(fd);
  } finally {
    closeSync(fd);
  }
};

const headLength = 8;
const sumLength = 32;

/** A checksum, the number of files, their times, their hashes, and their names with NUL between. */
const pack = ({ names, numbers, hashes }: KeptFolder): Uint8Array => {
  const head = Buffer.alloc(headLength);
  head.writeUInt32LE(names.length);
  const times = Buffer.from(numbers.buffer, numbers.byteOffset, numbers.byteLength);
  const body = Buffer.concat([head, times, hashes, Buffer.from(names.join('\0'))]);
  return Buffer.concat([sumOf(body), body]);
};

/** @throws Error for a damaged file */
const unpack = (packed: Buffer): KeptFolder => {
  const body = packed.subarray(sumLength);
  if (!sumOf(body).equals(packed.subarray(0, sumLength))) throw new Error('it is damaged');
  const count = body.readUInt32LE();
  // Numbers are read at multiples of their length, which a part of Node's pool need not have.
  const numbers = new Float64Array(
    Uint8Array.prototype.slice.call(body, headLength, headLength + count * 8 * stampLength).buffer,
  );
  const end = headLength + numbers.byteLength;
  const hashes = body.subarray(end, end + count * hashLength);
  const names = body.toString('utf8', end + hashes.length).split('\0');
  if (names.length !== count) throw new Error('it is damaged');
  return { names, numbers, hashes };
};

const sumOf = (bytes: Buffer): Buffer => createHash('sha256').update(bytes).digest();
