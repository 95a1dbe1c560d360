import { createHash, type Hash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { basename, dirname } from 'node:path';
import {
  createReadStream,
  fdatasyncSync,
  readFileSync,
  type Stats,
  statSync,
} from '../safe-fs/fs.ts';
import { decodeForDiff } from '../text/text-diff.ts';
import {
  commitTemp,
  discardTemp,
  fillTemp,
  type Ownership,
  openTemp,
  type Temp,
  writeAtomic,
} from './atomic-write.ts';
import { hashBytes } from './file-hash.ts';
import { isDir } from './file-paths.ts';

/** More than this is not kept in memory while it arrives. */
const inMemory = 1024 * 1024;
/** So much is on the disk's way at most: one sync of all at the end could take minutes. */
const unsynced = 64 * 1024 * 1024;

/** The desired content of a file: bytes in memory, or a temporary file when it is large. */
export type FileContent = {
  readonly size: number;
  readonly sha256: string;
  readonly bytes: () => Buffer;
  /**
   * Puts the content at `path`, atomically, with the file's owner and mode; see `writeAtomic`, also for
   * `isNew`.
   */
  readonly place: (path: string, ownership: Ownership, isNew?: boolean) => Stats | undefined;
  /** Removes what is left of it. */
  readonly discard: () => void;
};

/** @param sha256 its hash, where that is known */
export const contentOf = (text: string | Buffer, sha256?: string): FileContent => {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text;
  return {
    size: bytes.length,
    sha256: sha256 ?? hashBytes(bytes),
    bytes: () => bytes,
    place: (path, ownership, isNew) => writeAtomic(path, bytes, ownership, isNew),
    discard: () => {},
  };
};

/** A copy of a file's content: the file itself stays. */
export const contentOfFile = async (
  path: string,
  near: string | undefined,
): Promise<FileContent> => {
  if (statSync(path).size < inMemory) return contentOf(readFileSync(path));
  const receiver = receive(near);
  for await (const chunk of createReadStream(path)) receiver.sink(chunk);
  return receiver.finish();
};

export type Receiver = {
  readonly sink: (bytes: Uint8Array) => void;
  readonly finish: () => FileContent;
  readonly discard: () => void;
};

/**
 * Collects content that arrives in parts: in memory while it is small, then in a temporary file
 * beside `near`, where it will be put in place by renaming. `near` is left out in test mode.
 */
export const receive = (near?: string): Receiver => {
  const hash = createHash('sha256');
  const parts: Uint8Array[] = [];
  let size = 0;
  let synced = 0;
  let temp: Temp | undefined;
  return {
    sink: bytes => {
      hash.update(bytes);
      size += bytes.length;
      if (!temp && size > inMemory) {
        temp = openTemp(directoryFor(near), near === undefined ? 'tsalt' : basename(near));
        for (const part of parts.splice(0)) fillTemp(temp, part);
      }
      if (!temp) parts.push(Uint8Array.from(bytes));
      else {
        fillTemp(temp, bytes);
        if (size - synced > unsynced) {
          fdatasyncSync(temp.fd);
          synced = size;
        }
      }
    },
    finish: () =>
      temp ? spilled(temp, size, hash) : contentOf(Buffer.concat(parts), hash.digest('hex')),
    discard: () => temp && discardTemp(temp),
  };
};

const directoryFor = (near: string | undefined): string => {
  const dir = near === undefined ? undefined : dirname(near);
  return dir !== undefined && isDir(dir) ? dir : tmpdir();
};

const spilled = (temp: Temp, size: number, hash: Hash): FileContent => {
  let placed = false;
  return {
    size,
    sha256: hash.digest('hex'),
    bytes: () => readFileSync(temp.path),
    place: (path, ownership, isNew) => {
      const made = commitTemp(temp, path, ownership, isNew);
      placed = true;
      return made;
    },
    discard: () => {
      if (!placed) discardTemp(temp);
    },
  };
};

/** A content's text: UTF-8, or Latin-1 where it is not valid UTF-8. */
export const contentText = (content: FileContent): string => decodeForDiff(content.bytes());
