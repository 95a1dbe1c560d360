/**
 * Random numbers, strings and password hashes.
 *
 * @platform all
 */
import { createHash, getHashes, randomBytes, randomInt } from 'node:crypto';
import { PythonRandom } from '../../../data/python/python-random.ts';
import { getOwn } from '../../../protocol/plain.ts';
import { __grains__, __opts__, type Plain, SaltInvocationError } from '../../api.ts';
import { newSalt, shaCrypt } from '../sha-crypt.ts';

const classes = {
  lowercase: 'abcdefghijklmnopqrstuvwxyz',
  uppercase: 'ABCDEFGHIJKLMNOPQRSTUVWXYZ',
  digits: '0123456789',
  punctuation: '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~',
};

type StringOptions = {
  chars?: string | null;
  lowercase?: boolean;
  uppercase?: boolean;
  digits?: boolean;
  punctuation?: boolean;
  whitespace?: boolean;
  printable?: boolean;
};

/** Python's `string.whitespace`. */
const whitespaceCharacters = ' \t\n\r\v\f';

/**
 * A random text.
 *
 * @param length so many characters
 * @param chars the characters to use
 * @param lowercase with small letters
 * @param uppercase with capital letters
 * @param digits with digits
 * @param punctuation with punctuation
 * @param whitespace with blanks, tabs and line ends
 * @param printable with all of these, whatever else is said
 *
 * @example tsalt-ssh '*' random.get_str 32 punctuation=False
 */
export const get_str = async (
  length = 20,
  {
    chars = null,
    lowercase = true,
    uppercase = true,
    digits = true,
    punctuation = true,
    whitespace = false,
    printable = false,
  }: StringOptions = {},
): Promise<string> => {
  const chosen = (wanted: boolean, characters: string): string =>
    wanted || printable ? characters : '';
  const all =
    chosen(lowercase, classes.lowercase) +
    chosen(uppercase, classes.uppercase) +
    chosen(digits, classes.digits) +
    chosen(punctuation, classes.punctuation) +
    chosen(whitespace, whitespaceCharacters);
  const pool = chars && !printable ? chars : all;
  const count = Number(length);
  if (!Number.isInteger(count))
    throw new SaltInvocationError(`length must be a whole number, not ${length}`);
  if (pool === '') throw new SaltInvocationError('No characters to choose from');
  return Array.from({ length: Math.max(0, count) }, () => pool[randomInt(pool.length)]).join('');
};

/**
 * A random whole number.
 *
 * @param start from
 * @param end to, included
 * @param seed the same seed returns the same number, as in Salt
 *
 * @example tsalt-ssh '*' random.rand_int 1 10
 */
export const rand_int = async (
  start = 1,
  end = 10,
  { seed: from = null }: { seed?: string | number | null } = {},
): Promise<number> => {
  if (!Number.isInteger(start) || !Number.isInteger(end) || end < start)
    throw new SaltInvocationError(`There is no whole number from ${start} to ${end}`);
  return from === null
    ? randomInt(start, end + 1)
    : start + new PythonRandom(seedBytes(from)).below(end - start + 1);
};

/**
 * Returns a number that is always the same for this host, or for a text, and equals Salt's.
 *
 * @param range the number is less than this
 * @param hash the text; the id of this host when left out
 *
 * @example tsalt-ssh '*' random.seed 60 hash=backup
 */
export const seed = async (range = 10, hash: string | number | null = null): Promise<number> => {
  if (!Number.isInteger(range) || range < 1)
    throw new SaltInvocationError(`range must be a whole number above 0, not ${range}`);
  return new PythonRandom(seedBytes(hash ?? String(__grains__.id ?? __opts__.id))).below(range);
};

/** A seed as Python makes bytes of it: a number's own, a text with its SHA-512 behind. */
const seedBytes = (value: string | number): Buffer => {
  if (typeof value === 'number' && Number.isInteger(value)) {
    const digits = BigInt(Math.abs(value)).toString(16);
    return Buffer.from(digits.length % 2 ? `0${digits}` : digits, 'hex');
  }
  const bytes = Buffer.from(String(value));
  return Buffer.concat([bytes, createHash('sha512').update(bytes).digest()]);
};

/**
 * Some of a list, in any order.
 *
 * @param value the list
 * @param size how many
 * @param seed the same seed returns the same items, as in Salt
 *
 * @example tsalt-ssh '*' random.sample '[1, 2, 3, 4]' 2
 */
export const sample = async (
  value: Plain[],
  size: number,
  { seed: from = null }: { seed?: string | number | null } = {},
): Promise<Plain[]> => {
  if (size < 0 || size > value.length)
    throw new SaltInvocationError(`There are ${value.length} to choose from, not ${size}`);
  const seeded =
    from === null
      ? randomBytes(64)
      : seedBytes(createHash('sha512').update(String(from)).digest('hex'));
  return new PythonRandom(seeded).sample(value, size);
};

/**
 * A list in any order.
 *
 * @param value the list
 * @param seed the same seed returns the same order, as in Salt
 *
 * @example tsalt-ssh '*' random.shuffle '[1, 2, 3, 4]' seed=host1
 */
export const shuffle = async (
  value: Plain[],
  { seed: from = null }: { seed?: string | number | null } = {},
): Promise<Plain[]> => sample(value, value.length, { seed: from });

/**
 * The hash of a password as /etc/shadow has it.
 *
 * @param crypt_salt the salt; a random one when left out
 * @param password the password; a random one when left out
 * @param algorithm `sha512` or `sha256`
 *
 * @example tsalt-ssh '*' random.shadow_hash password=hunter2
 */
export const shadow_hash = async (
  crypt_salt: string | null = null,
  password: string | null = null,
  algorithm: string | null = 'sha512',
): Promise<string> => {
  const kind = algorithm ?? 'sha512';
  if (kind !== 'sha512' && kind !== 'sha256')
    throw new SaltInvocationError(
      `Cannot hash using '${kind}' hash algorithm: sha512 and sha256 are supported.`,
    );
  // crypt(3) takes no such salt: nobody could ever log in by the hash.
  if (crypt_salt !== null && /[^\x21-\x7e]|[!*:;\\]/.test(crypt_salt))
    throw new SaltInvocationError('The salt of a password has letters, digits, "." and "/" only.');
  return shaCrypt(password ?? (await get_str()), crypt_salt ?? newSalt(), kind);
};

/**
 * The hash of a text.
 *
 * @param value the text
 * @param algorithm the hash
 *
 * @example tsalt-ssh '*' random.hash 'I am a string' md5
 */
export const hash = async (value: string, algorithm = 'sha512'): Promise<string> =>
  createHash(hashNamed(algorithm)).update(String(value)).digest('hex');

const hashNamed = (algorithm: string): string => {
  const name = getOwn(pythonNames, algorithm) ?? algorithm;
  if (getHashes().includes(name)) return name;
  throw new SaltInvocationError(`You must specify a valid algorithm, not ${algorithm}`);
};

/** Hashes that go by another name in Python. */
const pythonNames: Readonly<Record<string, string>> = {
  sha3_224: 'sha3-224',
  sha3_256: 'sha3-256',
  sha3_384: 'sha3-384',
  sha3_512: 'sha3-512',
  blake2b: 'blake2b512',
  blake2s: 'blake2s256',
};

/**
 * A text in an encoding.
 *
 * @param value the text
 * @param encoder `base64` or `hex`
 *
 * @example tsalt-ssh '*' random.str_encode 'I am a new string' base64
 */
export const str_encode = async (value: string, encoder = 'base64'): Promise<string> => {
  if (encoder !== 'base64' && encoder !== 'hex')
    throw new SaltInvocationError(`You must specify a valid encoder (base64, hex), not ${encoder}`);
  return Buffer.from(String(value)).toString(encoder);
};

/**
 * A hash of random bytes: a new one each time.
 *
 * @param size so many bytes
 * @param hash_type the hash
 *
 * @example tsalt-ssh '*' random.rand_str
 */
export const rand_str = async (size = 128, hash_type = 'sha512'): Promise<string> =>
  createHash(hashNamed(hash_type))
    .update(randomBytes(Number(size)))
    .digest('hex');
