import { CommandExecutionError } from '../api.ts';

export type TarEntry = {
  readonly name: string;
  readonly kind: 'file' | 'dir' | 'symlink' | 'link' | 'other';
  readonly mode: number;
  readonly mtime: number;
  readonly size: number;
  readonly target: string;
};

/**
 * Reads a tar archive (ustar, GNU and pax) entry by entry. `body` yields the content of the
 * current entry; what is not read of it is skipped. Throws where the archive is damaged.
 */
export async function* readTar(
  input: AsyncIterable<Uint8Array>,
): AsyncGenerator<{ entry: TarEntry; body: () => AsyncGenerator<Buffer> }> {
  const reader = new BlockReader(input);
  let extra: Record<string, string> = {};
  for (;;) {
    const header = await reader.take(512);
    if (!header || header.every(byte => byte === 0)) return;
    if (!hasGoodChecksum(header)) throw damaged('a header has a wrong checksum');
    const size = extra.size === undefined ? numberAt(header, 124, 12) : Number(extra.size);
    const flag = String.fromCharCode(header[156] ?? 0);
    if ('xgLK'.includes(flag)) {
      const data = await reader.text(size);
      if (flag === 'x') extra = { ...extra, ...paxRecords(data) };
      if (flag === 'L') extra = { ...extra, path: data.replace(/\0.*$/s, '') };
      if (flag === 'K') extra = { ...extra, linkpath: data.replace(/\0.*$/s, '') };
      continue;
    }
    const entry = entryOf(header, flag, size, extra);
    extra = {};
    let left = entry.kind === 'file' ? size : 0;
    const padding = (512 - (left % 512)) % 512;
    async function* body(): AsyncGenerator<Buffer> {
      while (left > 0) {
        const part = await reader.some(left);
        left -= part.length;
        yield part;
      }
    }
    yield { entry, body };
    for await (const _ of body());
    await reader.take(padding);
  }
}

class BlockReader {
  readonly #input: AsyncIterator<Uint8Array>;
  #have: Buffer = Buffer.alloc(0);

  constructor(input: AsyncIterable<Uint8Array>) {
    this.#input = input[Symbol.asyncIterator]();
  }

  /** So many bytes; undefined at the end. */
  async take(count: number): Promise<Buffer | undefined> {
    while (this.#have.length < count) {
      const next = await this.#input.next();
      if (next.done) {
        if (this.#have.length > 0) throw damaged('it ends in the middle');
        return undefined;
      }
      this.#have = Buffer.concat([this.#have, next.value]);
    }
    return this.#cut(count);
  }

  /** At least one byte, at most so many. */
  async some(most: number): Promise<Buffer> {
    while (this.#have.length === 0) {
      const next = await this.#input.next();
      if (next.done) throw damaged('it ends in the middle');
      const { buffer, byteOffset, byteLength } = next.value;
      this.#have = Buffer.from(buffer, byteOffset, byteLength);
    }
    return this.#cut(Math.min(most, this.#have.length));
  }

  /** The text of a header's extension. */
  async text(size: number): Promise<string> {
    if (size > 1024 * 1024) throw damaged('a name is too long');
    const data = await this.take(Math.ceil(size / 512) * 512);
    return (data ?? Buffer.alloc(0)).toString('utf8', 0, size);
  }

  #cut(count: number): Buffer {
    const part = this.#have.subarray(0, count);
    this.#have = this.#have.subarray(count);
    return part;
  }
}

const damaged = (why: string): CommandExecutionError =>
  new CommandExecutionError(`The tar archive cannot be read: ${why}`);

const textAt = (header: Buffer, at: number, length: number): string =>
  header.toString('utf8', at, at + length).replace(/\0.*$/s, '');

const numberAt = (header: Buffer, at: number, length: number): number => {
  if (((header[at] ?? 0) & 0x80) !== 0)
    return header.subarray(at + 1, at + length).reduce((sum, byte) => sum * 256 + byte, 0);
  return Number.parseInt(textAt(header, at, length).trim() || '0', 8) || 0;
};

const hasGoodChecksum = (header: Buffer): boolean => {
  const sum = header.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 32 : byte), 0);
  return sum === numberAt(header, 148, 8);
};

const paxRecords = (text: string): Record<string, string> => {
  const records: Record<string, string> = {};
  for (const [, key, value] of text.matchAll(/\d+ ([^=\n]+)=([^\n]*)\n/g))
    if (key === 'path' || key === 'linkpath' || key === 'size') records[key] = value ?? '';
  return records;
};

const kinds: Readonly<Record<string, TarEntry['kind']>> = {
  '\0': 'file',
  '0': 'file',
  '7': 'file',
  '1': 'link',
  '2': 'symlink',
  '5': 'dir',
};

const entryOf = (
  header: Buffer,
  flag: string,
  size: number,
  extra: Record<string, string>,
): TarEntry => {
  const prefix = textAt(header, 257, 5) === 'ustar' ? textAt(header, 345, 155) : '';
  const short = textAt(header, 0, 100);
  const name = extra.path ?? (prefix === '' ? short : `${prefix}/${short}`);
  const kind = kinds[flag] ?? 'other';
  return {
    name,
    kind: kind === 'file' && name.endsWith('/') ? 'dir' : kind,
    mode: numberAt(header, 100, 8) & 0o7777,
    mtime: numberAt(header, 136, 12),
    size,
    target: extra.linkpath ?? textAt(header, 157, 100),
  };
};
