import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  pbkdf2Sync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';
import { type Der, integer, integerOf, nothing, octets, oid, oidText, sequence } from './der.ts';

/** How the content of a PKCS 12 file is encrypted and sealed (RFC 7292, 8018, 9579). */

const pbes2 = '1.2.840.113549.1.5.13';
const pbkdf2 = '1.2.840.113549.1.5.12';
const tripleDesBySha1 = '1.2.840.113549.1.12.1.3';

const hmacs: Readonly<Record<string, string>> = {
  '1.2.840.113549.2.7': 'sha1',
  '1.2.840.113549.2.8': 'sha224',
  '1.2.840.113549.2.9': 'sha256',
  '1.2.840.113549.2.10': 'sha384',
  '1.2.840.113549.2.11': 'sha512',
};
const digests: Readonly<Record<string, string>> = {
  '1.3.14.3.2.26': 'sha1',
  '2.16.840.1.101.3.4.2.1': 'sha256',
  '2.16.840.1.101.3.4.2.2': 'sha384',
  '2.16.840.1.101.3.4.2.3': 'sha512',
};
const ciphers: Readonly<Record<string, { readonly name: string; readonly bytes: number }>> = {
  '2.16.840.1.101.3.4.1.2': { name: 'aes-128-cbc', bytes: 16 },
  '2.16.840.1.101.3.4.1.22': { name: 'aes-192-cbc', bytes: 24 },
  '2.16.840.1.101.3.4.1.42': { name: 'aes-256-cbc', bytes: 32 },
  '1.2.840.113549.3.7': { name: 'des-ede3-cbc', bytes: 24 },
};

const idOf = (table: Readonly<Record<string, unknown>>, wanted: unknown): string =>
  Object.keys(table).find(id => table[id] === wanted) ?? '';

/** Passphrase and algorithms for the new file. */
export type Protection = {
  readonly passphrase: string;
  /** Triple DES and SHA 1, for programs that know nothing better. */
  readonly compat: boolean;
};

const rounds = { modern: 20_000, compat: 10_000 };
/** A file may ask for as much work as it likes. */
const mostRounds = 10_000_000n;

/** Encrypts; returns the result with the algorithm's identifier. */
export const encrypt = (
  content: Buffer,
  { passphrase, compat }: Protection,
): { readonly algorithm: Buffer; readonly encrypted: Buffer } => {
  const salt = randomBytes(16);
  if (compat) {
    const iterations = rounds.compat;
    const password = bmp(passphrase);
    const key = derive('sha1', 1, { password, salt, iterations, size: 24 });
    const iv = derive('sha1', 2, { password, salt, iterations, size: 8 });
    return {
      algorithm: sequence(oid(tripleDesBySha1), sequence(octets(salt), integer(iterations))),
      encrypted: transform(createCipheriv('des-ede3-cbc', key, iv), content),
    };
  }
  const iv = randomBytes(16);
  const key = pbkdf2Sync(passphrase, salt, rounds.modern, 32, 'sha256');
  const derivation = sequence(
    oid(pbkdf2),
    sequence(octets(salt), integer(rounds.modern), sequence(oid(idOf(hmacs, 'sha256')), nothing)),
  );
  const scheme = sequence(oid('2.16.840.1.101.3.4.1.42'), octets(iv));
  return {
    algorithm: sequence(oid(pbes2), sequence(derivation, scheme)),
    encrypted: transform(createCipheriv('aes-256-cbc', key, iv), content),
  };
};

/** @throws Error for another passphrase, and for an encryption that is not known */
export const decrypt = (algorithm: Der, encrypted: Buffer, passphrase: string): Buffer => {
  const [id, parameters] = algorithm.children;
  const name = id && oidText(id);
  if (!parameters || (name !== pbes2 && name !== tripleDesBySha1))
    throw new Error('it is encrypted by an algorithm that is not known');
  if (name === pbes2) return decryptPbes2(parameters, encrypted, passphrase);
  const [salt, count] = parameters.children;
  if (!salt || !count) throw new Error('its encryption is broken');
  const password = bmp(passphrase);
  const how = { password, salt: salt.body, iterations: iterationsOf(count) };
  const key = derive('sha1', 1, { ...how, size: 24 });
  const iv = derive('sha1', 2, { ...how, size: 8 });
  return transform(createDecipheriv('des-ede3-cbc', key, iv), encrypted);
};

const decryptPbes2 = (parameters: Der, encrypted: Buffer, passphrase: string): Buffer => {
  const [derivation, scheme] = parameters.children;
  const [salt, count, ...rest] = derivation?.children[1]?.children ?? [];
  const [schemeId, iv] = scheme?.children ?? [];
  const cipher = schemeId && ciphers[oidText(schemeId)];
  const prf = rest.find(({ tag }) => tag === 0x30)?.children[0];
  const hmac = prf ? hmacs[oidText(prf)] : 'sha1';
  if (!salt || !count || !cipher || !iv || !hmac)
    throw new Error('it is encrypted by an algorithm that is not known');
  const key = pbkdf2Sync(passphrase, salt.body, iterationsOf(count), cipher.bytes, hmac);
  return transform(createDecipheriv(cipher.name, key, iv.body), encrypted);
};

const iterationsOf = (count: Der): number => {
  const iterations = integerOf(count);
  if (iterations > 0n && iterations <= mostRounds) return Number(iterations);
  throw new Error(`it asks for ${iterations} rounds`);
};

type Transform = { update: (bytes: Buffer) => Buffer; final: () => Buffer };

const transform = (cipher: Transform, content: Buffer): Buffer =>
  Buffer.concat([cipher.update(content), cipher.final()]);

/** The seal over the whole content. */
export const macOf = (content: Buffer, { passphrase, compat }: Protection): Buffer => {
  const digest = compat ? 'sha1' : 'sha256';
  const salt = randomBytes(16);
  const iterations = compat ? rounds.compat : rounds.modern;
  const mac = macBytes(content, { digest, passphrase, salt, iterations });
  return sequence(
    sequence(sequence(oid(idOf(digests, digest)), nothing), octets(mac)),
    octets(salt),
    integer(iterations),
  );
};

/** @throws Error for another passphrase, and for a seal that is broken */
export const checkMac = (mac: Der, content: Buffer, passphrase: string): void => {
  const [info, salt, count] = mac.children;
  const [algorithm, value] = info?.children ?? [];
  const id = algorithm?.children[0];
  const digest = id && digests[oidText(id)];
  if (!digest || !value || !salt) throw new Error('it is sealed by an algorithm that is not known');
  const iterations = count ? iterationsOf(count) : 1;
  const wanted = macBytes(content, { digest, passphrase, salt: salt.body, iterations });
  if (wanted.length !== value.body.length || !timingSafeEqual(wanted, value.body))
    throw new Error('the passphrase is another');
};

const macBytes = (
  content: Buffer,
  {
    digest,
    passphrase,
    salt,
    iterations,
  }: {
    readonly digest: string;
    readonly passphrase: string;
    readonly salt: Buffer;
    readonly iterations: number;
  },
): Buffer => {
  const size = createHash(digest).digest().length;
  const key = derive(digest, 3, { password: bmp(passphrase), salt, iterations, size });
  return createHmac(digest, key).update(content).digest();
};

/** A password as PKCS 12 hashes it: UTF-16 with an end. */
const bmp = (text: string): Buffer => Buffer.from(`${text}\0`, 'utf16le').swap16();

/** RFC 7292, appendix B.2: a key (1), an initial value (2) or a seal's key (3) of a password. */
const derive = (
  digest: string,
  purpose: 1 | 2 | 3,
  {
    password,
    salt,
    iterations,
    size,
  }: {
    readonly password: Buffer;
    readonly salt: Buffer;
    readonly iterations: number;
    readonly size: number;
  },
): Buffer => {
  const block = digest === 'sha384' || digest === 'sha512' ? 128 : 64;
  const parts = [stretch(salt, block), stretch(password, block)];
  const input = Buffer.concat(parts);
  const made: Buffer[] = [];
  for (let length = 0; length < size; ) {
    let hash: Buffer = createHash(digest)
      .update(Buffer.alloc(block, purpose))
      .update(input)
      .digest();
    for (let round = 1; round < iterations; round += 1)
      hash = createHash(digest).update(hash).digest();
    made.push(hash);
    length += hash.length;
    const addend = Buffer.alloc(block, hash).subarray(0, block);
    for (let at = 0; at < input.length; at += block) addOne(input.subarray(at, at + block), addend);
  }
  return Buffer.concat(made).subarray(0, size);
};

const stretch = (text: Buffer, block: number): Buffer =>
  text.length === 0 ? text : Buffer.alloc(block * Math.ceil(text.length / block), text);

/** Adds a number and one to a number of the same length, from its end, and drops what overflows. */
const addOne = (number: Buffer, addend: Buffer): void => {
  let carry = 1;
  for (let at = number.length - 1; at >= 0; at -= 1) {
    carry += (number[at] ?? 0) + (addend[at] ?? 0);
    number[at] = carry & 0xff;
    carry >>= 8;
  }
};
