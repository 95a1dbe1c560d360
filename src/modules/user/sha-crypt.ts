import { createHash, randomBytes } from 'node:crypto';

/** crypt(3)'s `$6$` (SHA-512) and `$5$` (SHA-256), by Drepper's specification. */
export type ShaCryptKind = 'sha512' | 'sha256';

const alphabet = './0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const defaultRounds = 5000;

/** A fresh salt of 16 characters. */
export const newSalt = (): string =>
  Array.from(randomBytes(16), byte => alphabet[byte & 63]).join('');

/** The hash of a password as shadow(5) has it. `salt` may begin with `rounds=N$`. */
export const shaCrypt = (
  password: string,
  salt = newSalt(),
  kind: ShaCryptKind = 'sha512',
): string => {
  const stated = /^rounds=(\d+)\$/.exec(salt);
  const rounds = stated ? Math.min(999_999_999, Math.max(1000, Number(stated[1]))) : defaultRounds;
  const plainSalt =
    (stated ? salt.slice(stated[0].length) : salt).split('$')[0]?.slice(0, 16) ?? '';
  const size = kind === 'sha512' ? 64 : 32;
  const digest = (...parts: Uint8Array[]): Buffer => {
    const hash = createHash(kind);
    for (const part of parts) hash.update(part);
    return hash.digest();
  };
  const key = Buffer.from(password, 'utf8');
  const salted = Buffer.from(plainSalt, 'utf8');
  const alternate = digest(key, salted, key);
  const parts: Uint8Array[] = [key, salted, repeat(alternate, key.length)];
  for (let bits = key.length; bits > 0; bits >>= 1) parts.push(bits & 1 ? alternate : key);
  let result = digest(...parts);
  const keyBytes = repeat(digest(...Array.from({ length: key.length }, () => key)), key.length);
  const saltTurns = 16 + (result[0] ?? 0);
  const saltBytes = repeat(
    digest(...Array.from({ length: saltTurns }, () => salted)),
    salted.length,
  );
  for (let turn = 0; turn < rounds; turn += 1) {
    const odd = turn % 2 === 1;
    result = digest(
      odd ? keyBytes : result,
      ...(turn % 3 === 0 ? [] : [saltBytes]),
      ...(turn % 7 === 0 ? [] : [keyBytes]),
      odd ? result : keyBytes,
    );
  }
  const prefix = kind === 'sha512' ? '$6$' : '$5$';
  return `${prefix}${stated ? `rounds=${rounds}$` : ''}${plainSalt}$${encode(result, size)}`;
};

const repeat = (bytes: Buffer, length: number): Buffer => {
  const whole = Buffer.alloc(length);
  for (let at = 0; at < length; at += bytes.length)
    bytes.copy(whole, at, 0, Math.min(bytes.length, length - at));
  return whole;
};

/** crypt's own base 64: three bytes, picked across the digest in turn, as four characters. */
const encode = (bytes: Buffer, size: number): string => {
  const third = Math.floor(size / 3);
  let text = '';
  const put = (b2: number, b1: number, b0: number, count: number): void => {
    let word = (b2 << 16) | (b1 << 8) | b0;
    for (let turn = 0; turn < count; turn += 1) {
      text += alphabet[word & 63];
      word >>= 6;
    }
  };
  for (let turn = 0; turn < third; turn += 1) {
    const indexes = [turn, third + turn, 2 * third + turn];
    const shift = size === 64 ? turn % 3 : (3 - (turn % 3)) % 3;
    const order = [0, 1, 2].map(place => indexes[(place + shift) % 3] ?? 0);
    put(bytes[order[0] ?? 0] ?? 0, bytes[order[1] ?? 0] ?? 0, bytes[order[2] ?? 0] ?? 0, 4);
  }
  if (size === 64) put(0, 0, bytes[63] ?? 0, 2);
  else put(0, bytes[31] ?? 0, bytes[30] ?? 0, 3);
  return text;
};
