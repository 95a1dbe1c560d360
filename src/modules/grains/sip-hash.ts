/**
 * Python 3's `hash(text)` with PYTHONHASHSEED=0: SipHash-2-4 with a zero key over the string's code
 * units. Salt's `server_id` grain is derived from it.
 */
export const pythonHash = (text: string, rounds: Rounds = { word: 2, end: 4 }): bigint => {
  if (text === '') return 0n;
  const hash = BigInt.asIntN(64, sipHash(codeUnits(text), rounds));
  return hash === -1n ? -2n : hash;
};

/** Python 3.11 and later use 1 and 3. */
export type Rounds = { readonly word: number; readonly end: number };

/** A string's characters in the narrowest of 1, 2 or 4 bytes that fits them all (PEP 393). */
const codeUnits = (text: string): Buffer => {
  const points = Array.from(text, character => character.codePointAt(0) ?? 0);
  const widest = Math.max(...points);
  const width = widest < 0x100 ? 1 : widest < 0x10000 ? 2 : 4;
  const bytes = Buffer.alloc(points.length * width);
  points.forEach((point, index) => bytes.writeUIntLE(point, index * width, width));
  return bytes;
};

const u64 = (value: bigint): bigint => BigInt.asUintN(64, value);
const rotate = (value: bigint, bits: bigint): bigint =>
  u64((value << bits) | (value >> (64n - bits)));

const sipHash = (bytes: Buffer, rounds: Rounds): bigint => {
  let v0 = 0x736f6d6570736575n;
  let v1 = 0x646f72616e646f6dn;
  let v2 = 0x6c7967656e657261n;
  let v3 = 0x7465646279746573n;
  const round = (): void => {
    v0 = u64(v0 + v1);
    v2 = u64(v2 + v3);
    v1 = rotate(v1, 13n) ^ v0;
    v3 = rotate(v3, 16n) ^ v2;
    v0 = rotate(v0, 32n);
    v2 = u64(v2 + v1);
    v0 = u64(v0 + v3);
    v1 = rotate(v1, 17n) ^ v2;
    v3 = rotate(v3, 21n) ^ v0;
    v2 = rotate(v2, 32n);
  };
  const take = (word: bigint): void => {
    v3 ^= word;
    for (let turn = 0; turn < rounds.word; turn += 1) round();
    v0 ^= word;
  };
  const whole = bytes.length - (bytes.length % 8);
  for (let at = 0; at < whole; at += 8) take(bytes.readBigUInt64LE(at));
  let last = BigInt(bytes.length & 0xff) << 56n;
  for (let at = whole; at < bytes.length; at += 1)
    last |= BigInt(bytes[at] ?? 0) << BigInt(8 * (at - whole));
  take(last);
  v2 ^= 0xffn;
  for (let turn = 0; turn < rounds.end; turn += 1) round();
  return v0 ^ v1 ^ v2 ^ v3;
};
