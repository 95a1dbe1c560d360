import { inflateRawSync } from 'node:zlib';
import { closeSync, fstatSync, openSync, readSync } from '../_shared/safe-fs/fs.ts';
import { CommandExecutionError } from '../api.ts';
import { crc32, decryptZip } from './zip-crypto.ts';

export type ZipEntry = {
  readonly name: string;
  readonly kind: 'file' | 'dir' | 'symlink' | 'other';
  readonly mode: number | undefined;
  readonly isEncrypted: boolean;
  /** Throws where a password is needed and is not given, or is another. */
  readonly content: (password?: string) => Buffer;
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
  const { count, length, start } = placeOf(tail, end, read);
  if (length > largest || start + length > size) throw damaged('its directory is broken');
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

/** Where the directory is: in the end record, or in that of zip64 before it. */
const placeOf = (
  tail: Buffer,
  end: number,
  read: Read,
): { count: number; length: number; start: number } => {
  const count = tail.readUInt16LE(end + 10);
  const length = tail.readUInt32LE(end + 12);
  const start = tail.readUInt32LE(end + 16);
  const locator = end - 20;
  const isLarge = count === 0xffff || length === 0xffffffff || start === 0xffffffff;
  if (!isLarge || locator < 0 || tail.readUInt32LE(locator) !== 0x07064b50)
    return { count, length, start };
  const record = read(Number(tail.readBigUInt64LE(locator + 8)), 56);
  if (record.readUInt32LE(0) !== 0x06064b50) throw damaged('its directory is missing');
  return {
    count: Number(record.readBigUInt64LE(32)),
    length: Number(record.readBigUInt64LE(40)),
    start: Number(record.readBigUInt64LE(48)),
  };
};

/** Sizes and place of a member, those of zip64 where the short ones do not suffice. */
const sizesAt = (
  directory: Buffer,
  at: number,
  nameLength: number,
): { packed: number; plain: number; offset: number } => {
  const short = [24, 20, 42].map(field => directory.readUInt32LE(at + field));
  const extraLength = directory.readUInt16LE(at + 30);
  const extra = directory.subarray(at + 46 + nameLength, at + 46 + nameLength + extraLength);
  let long: Buffer = Buffer.alloc(0);
  for (let next = 0; next + 4 <= extra.length; next += 4 + extra.readUInt16LE(next + 2))
    if (extra.readUInt16LE(next) === 1)
      long = extra.subarray(next + 4, next + 4 + extra.readUInt16LE(next + 2));
  let used = 0;
  const [plain = 0, packed = 0, offset = 0] = short.map(value => {
    if (value !== 0xffffffff || used + 8 > long.length) return value;
    used += 8;
    return Number(long.readBigUInt64LE(used - 8));
  });
  return { packed, plain, offset };
};

const entryAt = (directory: Buffer, at: number, nameLength: number, read: Read): ZipEntry => {
  const name = directory.toString('utf8', at + 46, at + 46 + nameLength);
  const madeOnUnix = directory[at + 5] === 3;
  const attributes = madeOnUnix ? directory.readUInt16LE(at + 40) : 0;
  const type = attributes & 0o170000;
  const { packed, plain, offset } = sizesAt(directory, at, nameLength);
  const flags = directory.readUInt16LE(at + 8);
  const crc = directory.readUInt32LE(at + 16);
  const method = directory.readUInt16LE(at + 10);
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
    isEncrypted: (flags & 1) === 1,
    mode: madeOnUnix && (attributes & 0o777) !== 0 ? attributes & 0o7777 : undefined,
    content: password => {
      if (packed > largest || plain > largest) throw damaged(`${name} is too large`);
      const header = read(offset, 30);
      const data = read(offset + 30 + header.readUInt16LE(26) + header.readUInt16LE(28), packed);
      if (method === 99) throw damaged(`${name} is encrypted by AES, which is not supported`);
      let body = data;
      if (flags & 1) {
        if (password === undefined)
          throw damaged(`${name} is protected by a password: give 'password'`);
        // In a streamed archive the checksum was not known yet, so the time is checked instead.
        const check = flags & 8 ? directory.readUInt16LE(at + 12) >>> 8 : crc >>> 24;
        body = decryptZip(data, password, check);
      }
      const content = unpacked(body, method, plain, name);
      // One wrong password in 256 passes the check byte.
      if (flags & 1 && crc32(content) !== crc)
        throw new CommandExecutionError('The password of the archive is another');
      return content;
    },
  };
};

const unpacked = (data: Buffer, method: number, size: number, name: string): Buffer => {
  if (method === 0) return data;
  if (method !== 8) throw damaged(`${name} is packed by method ${method}`);
  try {
    return inflateRawSync(data, { maxOutputLength: Math.max(size, 1) });
  } catch {
    throw damaged(`${name} is damaged, or the password is wrong`);
  }
};

const damaged = (why: string): CommandExecutionError =>
  new CommandExecutionError(`The zip archive cannot be read: ${why}`);
