/**
 * Random numbers, strings and password hashes.
 *
 * @platform all
 */
import { createHash, getHashes, randomBytes, randomInt } from 'node:crypto';
import { __opts__, SaltInvocationError } from '../api.ts';

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
};

/**
 * A random text.
 *
 * @param length so many characters
 * @param chars of these characters
 * @param lowercase with small letters
 * @param uppercase with capital letters
 * @param digits with digits
 * @param punctuation with punctuation
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
  }: StringOptions = {},
): Promise<string> => {
  const pool =
    chars ??
    [
      lowercase && classes.lowercase,
      uppercase && classes.uppercase,
      digits && classes.digits,
      punctuation && classes.punctuation,
    ]
      .filter(part => part !== false)
      .join('');
  if (pool === '') throw new SaltInvocationError('No characters to choose from');
  return Array.from({ length: Number(length) }, () => pool[randomInt(pool.length)]).join('');
};

/**
 * A random whole number.
 *
 * @param start from
 * @param end to, included
 *
 * @example tsalt-ssh '*' random.rand_int 1 10
 */
export const rand_int = async (start = 1, end = 10): Promise<number> =>
  randomInt(Number(start), Number(end) + 1);

/**
 * A number that is the same each time, for this host or for a text.
 *
 * @param range the number is less than this
 * @param hash the text; the id of this host when left out
 *
 * @example tsalt-ssh '*' random.seed 60 hash=backup
 */
export const seed = async (range = 10, hash: string | null = null): Promise<number> => {
  const digest = createHash('sha256')
    .update(hash ?? __opts__.id)
    .digest('hex');
  return Number(BigInt(`0x${digest}`) % BigInt(range));
};

/**
 * The hash of a text.
 *
 * @param value the text
 * @param algorithm the hash
 *
 * @example tsalt-ssh '*' random.hash 'I am a string' md5
 */
export const hash = async (value: string, algorithm = 'sha512'): Promise<string> => {
  if (!getHashes().includes(algorithm))
    throw new SaltInvocationError(`You must specify a valid algorithm, not ${algorithm}`);
  return createHash(algorithm).update(String(value)).digest('hex');
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
  createHash(hash_type)
    .update(randomBytes(Number(size)))
    .digest('hex');
