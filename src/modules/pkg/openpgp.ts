import { createHash } from 'node:crypto';

/** Returns the bytes of an ASCII-armored OpenPGP key; other bytes are returned unchanged. */
export const dearmor = (key: Uint8Array): Buffer => {
  const text = Buffer.from(key).toString('latin1');
  const blocks = [
    ...text.matchAll(
      /-----BEGIN PGP PUBLIC KEY BLOCK-----\r?\n([\s\S]*?)-----END PGP PUBLIC KEY BLOCK-----/g,
    ),
  ];
  if (blocks.length === 0) return Buffer.from(key);
  return Buffer.concat(
    blocks.map(([, block = '']) => {
      const lines = block.split(/\r?\n/);
      const body = lines.slice(lines.findIndex(line => line.trim() === '') + 1);
      const base64 = body.filter(line => !line.startsWith('=')).join('');
      return Buffer.from(base64, 'base64');
    }),
  );
};

export const isArmored = (key: Uint8Array): boolean =>
  Buffer.from(key).includes('-----BEGIN PGP PUBLIC KEY BLOCK-----');

/**
 * Returns the fingerprints of the primary keys in an OpenPGP key ring (RFC 4880 12.2, version 4),
 * upper-case hex.
 */
export const fingerprints = (key: Uint8Array): string[] => {
  const bytes = dearmor(key);
  const found: string[] = [];
  for (let at = 0; at < bytes.length; ) {
    const packet = readPacket(bytes, at);
    if (!packet) break;
    if (packet.tag === 6 && packet.body[0] === 4) {
      const head = Buffer.alloc(3, 0x99);
      head.writeUInt16BE(packet.body.length, 1);
      found.push(createHash('sha1').update(head).update(packet.body).digest('hex').toUpperCase());
    }
    at = packet.end;
  }
  return found;
};

const readPacket = (
  bytes: Buffer,
  at: number,
): { tag: number; body: Buffer; end: number } | undefined => {
  const head = bytes[at] ?? 0;
  if ((head & 0x80) === 0) return undefined;
  const isNew = (head & 0x40) !== 0;
  const tag = isNew ? head & 0x3f : (head >> 2) & 0x0f;
  const size = isNew ? newLength(bytes, at + 1) : oldLength(bytes, at + 1, head & 3);
  if (!size) return undefined;
  const end = size.from + size.length;
  return end > bytes.length ? undefined : { tag, body: bytes.subarray(size.from, end), end };
};

type Length = { from: number; length: number };

const newLength = (bytes: Buffer, at: number): Length | undefined => {
  const first = bytes[at] ?? 0;
  if (first < 192) return { from: at + 1, length: first };
  if (first < 224)
    return { from: at + 2, length: ((first - 192) << 8) + (bytes[at + 1] ?? 0) + 192 };
  return first === 255 && at + 5 <= bytes.length
    ? { from: at + 5, length: bytes.readUInt32BE(at + 1) }
    : undefined;
};

const oldLength = (bytes: Buffer, at: number, kind: number): Length | undefined => {
  const width = [1, 2, 4][kind];
  if (width === undefined || at + width > bytes.length) return undefined;
  return { from: at + width, length: bytes.readUIntBE(at, width) };
};
