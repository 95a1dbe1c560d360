/** The NT hash of a password, in upper-case hexadecimal: MD4 of its UTF-16. OpenSSL 3 has no MD4. */
export const ntHash = (password: string): string =>
  md4(Buffer.from(password, 'utf16le')).toString('hex').toUpperCase();

type State = readonly [number, number, number, number];

const rounds = [
  {
    mix: (x: number, y: number, z: number) => (x & y) | (~x & z),
    add: 0,
    order: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
    turns: [3, 7, 11, 19],
  },
  {
    mix: (x: number, y: number, z: number) => (x & y) | (x & z) | (y & z),
    add: 0x5a827999,
    order: [0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15],
    turns: [3, 5, 9, 13],
  },
  {
    mix: (x: number, y: number, z: number) => x ^ y ^ z,
    add: 0x6ed9eba1,
    order: [0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15],
    turns: [3, 9, 11, 15],
  },
] as const;

/** RFC 1320. */
const md4 = (message: Buffer): Buffer => {
  const padded = Buffer.alloc((((message.length + 8) >> 6) + 1) * 64);
  message.copy(padded);
  padded[message.length] = 0x80;
  padded.writeBigUInt64LE(BigInt(message.length) * 8n, padded.length - 8);
  let state: State = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476];
  for (let at = 0; at < padded.length; at += 64) state = block(state, padded.subarray(at, at + 64));
  const digest = Buffer.alloc(16);
  for (const [index, word] of state.entries()) digest.writeUInt32LE(word >>> 0, 4 * index);
  return digest;
};

const block = (before: State, bytes: Buffer): State => {
  let [a, b, c, d] = before;
  for (const { mix, add, order, turns } of rounds)
    for (const [step, word] of order.entries()) {
      const sum = (a + mix(b, c, d) + bytes.readUInt32LE(4 * word) + add) | 0;
      const turn = turns[step % 4] ?? 0;
      [a, b, c, d] = [d, (sum << turn) | (sum >>> (32 - turn)), b, c];
    }
  return [(before[0] + a) | 0, (before[1] + b) | 0, (before[2] + c) | 0, (before[3] + d) | 0];
};
