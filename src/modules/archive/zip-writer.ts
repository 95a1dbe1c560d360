import { deflateRawSync } from 'node:zlib';
import { CommandExecutionError } from '../api.ts';
import { crc32 } from './zip-crypto.ts';

/** A file of a zip archive; a folder has no content, and a name that ends with `/`. */
export type ZipMember = {
  readonly name: string;
  readonly mtime: Date;
  readonly mode: number;
  readonly content?: () => Buffer;
};

const mostMembers = 65_535;
const mostBytes = 2 ** 32 - 1;

/** The bytes of a zip archive with these members, by APPNOTE 6.3 without its extensions. */
export const zipBytes = (members: readonly ZipMember[]): Buffer => {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const member of members) {
    const plain = member.content?.() ?? Buffer.alloc(0);
    const packed = deflateRawSync(plain);
    const isPacked = packed.length < plain.length;
    const data = isPacked ? packed : plain;
    const name = Buffer.from(member.name);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(0x800, 2); // names are UTF-8
    common.writeUInt16LE(isPacked ? 8 : 0, 4);
    common.writeUInt32LE(dosTime(member.mtime), 6);
    common.writeUInt32LE(crc32(plain) >>> 0, 10);
    if (plain.length > mostBytes || offset > mostBytes) throw tooLarge();
    common.writeUInt32LE(data.length, 14);
    common.writeUInt32LE(plain.length, 18);
    common.writeUInt16LE(name.length, 22);
    const place = Buffer.alloc(14);
    // Comment, disk and internal attributes are 0; Unix modes are the upper half of the external.
    place.writeUInt32LE(((member.mode & 0xffff) << 16) >>> 0, 6);
    place.writeUInt32LE(offset, 10);
    parts.push(signed(0x04034b50), common, name, data);
    directory.push(signed(0x02014b50), Buffer.from([20, 3]), common, place, name);
    offset += 30 + name.length + data.length;
  }
  const index = Buffer.concat(directory);
  if (members.length > mostMembers || offset > mostBytes) throw tooLarge();
  const end = Buffer.alloc(18);
  end.writeUInt16LE(members.length, 4);
  end.writeUInt16LE(members.length, 6);
  end.writeUInt32LE(index.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...parts, index, signed(0x06054b50), end]);
};

const signed = (signature: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(signature);
  return bytes;
};

const tooLarge = (): CommandExecutionError =>
  new CommandExecutionError(
    'The zip archive would have more than 4 GB or 65,535 members; use archive.tar.',
  );

/** Date and time as MS-DOS had them, from 1980 on. */
const dosTime = (time: Date): number => {
  const year = Math.max(1980, time.getFullYear());
  const date = ((year - 1980) << 9) | ((time.getMonth() + 1) << 5) | time.getDate();
  const clock = (time.getHours() << 11) | (time.getMinutes() << 5) | (time.getSeconds() >> 1);
  return ((date << 16) | clock) >>> 0;
};
