import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { inflateRawSync } from 'node:zlib';
import { CommandExecutionError } from '../api.ts';

export type ZipEntry = {
  readonly name: string;
  readonly kind: 'file' | 'dir' | 'symlink' | 'other';
  readonly mode: number | undefined;
  readonly encrypted: boolean;
  readonly content: () => Buffer;
};

const largest = 2 ** 31 - 1;

/** Runs `work` with the entries of a zip archive, read from its central directory. */
export const withZip = async <T>(
  path: string,
  work: (entries: ZipEntry[]) => Promise<T> | T,
): Promise<T> => {
  const fd = openSync(path, 'r');
  try {
    const read = (at: number, length: number): Buffer => {
      const buffer = Buffer.alloc(length);
      const count = readSync(fd, buffer, 0, length, at);
      if (count < length) throw damaged('it ends in the middle');
      return buffer;
    };
    return await work(entriesOf(read, fstatSync(fd).size));
  } finally {
    closeSync(fd);
  }
};

type Read = (at: number, length: number) => Buffer;

const entriesOf = (read: Read, size: number): ZipEntry[] => {
  const tailLength = Math.min(size, 65_557);
  const tail = read(size - tailLength, tailLength);
  const end = tail.lastIndexOf(Buffer.from('PK\x05\x06'));
  if (end < 0) throw damaged('its directory is missing');
  const count = tail.readUInt16LE(end + 10);
  const length = tail.readUInt32LE(end + 12);
  const start = tail.readUInt32LE(end + 16);
  if (count === 0xffff || start === 0xffffffff) throw damaged('zip64 archives are not supported');
  const directory = read(start, length);
  const entries: ZipEntry[] = [];
  for (let at = 0, index = 0; index < count; index++) {
    if (directory.readUInt32LE(at) !== 0x02014b50) throw damaged('its directory is broken');
    const nameLength = directory.readUInt16LE(at + 28);
    entries.push(entryAt(directory, at, nameLength, read));
    at += 46 + nameLength + directory.readUInt16LE(at + 30) + directory.readUInt16LE(at + 32);
  }
  return entries;
};

const entryAt = (directory: Buffer, at: number, nameLength: number, read: Read): ZipEntry => {
  const name = directory.toString('utf8', at + 46, at + 46 + nameLength);
  const madeOnUnix = directory[at + 5] === 3;
  const attributes = madeOnUnix ? directory.readUInt16LE(at + 40) : 0;
  const type = attributes & 0o170000;
  const packed = directory.readUInt32LE(at + 20);
  const plain = directory.readUInt32LE(at + 24);
  const method = directory.readUInt16LE(at + 10);
  const offset = directory.readUInt32LE(at + 42);
  return {
    name,
    kind:
      name.endsWith('/') || type === 0o040000
        ? 'dir'
        : type === 0o120000
          ? 'symlink'
          : type === 0 || type === 0o100000
            ? 'file'
            : 'other',
    mode: madeOnUnix && (attributes & 0o777) !== 0 ? attributes & 0o7777 : undefined,
    encrypted: (directory.readUInt16LE(at + 8) & 1) !== 0,
    content: () => {
      if (packed > largest || plain > largest) throw damaged(`${name} is too large`);
      const header = read(offset, 30);
      const data = read(offset + 30 + header.readUInt16LE(26) + header.readUInt16LE(28), packed);
      if (method === 0) return data;
      if (method === 8) return inflateRawSync(data, { maxOutputLength: Math.max(plain, 1) });
      throw damaged(`${name} is packed by method ${method}`);
    },
  };
};

const damaged = (why: string): CommandExecutionError =>
  new CommandExecutionError(`The zip archive cannot be read: ${why}`);
