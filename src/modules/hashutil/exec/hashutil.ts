/**
 * Hashes, encodings and signatures of texts and files.
 *
 * @platform all
 */
import { createHmac, getHashes, timingSafeEqual } from 'node:crypto';
import { writeAtomic } from '../../_shared/files/atomic-write.ts';
import { hashBytes, hashFile } from '../../_shared/files/file-hash.ts';
import { readFileSync } from '../../_shared/safe-fs/fs.ts';
import { SaltInvocationError } from '../../api.ts';

/**
 * Returns the hash of a text, in hexadecimal.
 *
 * @param instr the text
 * @param checksum `md5`, `sha1`, `sha256` …
 *
 * @example tsalt-ssh '*' hashutil.digest 'get salted' sha256
 */
export const digest = async (instr: string, checksum = 'md5'): Promise<string> =>
  hashBytes(String(instr), checksum);

/**
 * Returns the hash of a file, in hexadecimal.
 *
 * @param infile the file
 * @param checksum `md5`, `sha1`, `sha256` …
 *
 * @example tsalt-ssh '*' hashutil.digest_file /etc/hosts sha256
 */
export const digest_file = async (infile: string, checksum = 'md5'): Promise<string> =>
  hashFile(infile, checksum);

/**
 * Returns the MD5 hash of a text.
 *
 * @param instr the text
 *
 * @example tsalt-ssh '*' hashutil.md5_digest 'get salted'
 */
export const md5_digest = async (instr: string): Promise<string> => hashBytes(String(instr), 'md5');

/**
 * Returns the SHA-256 hash of a text.
 *
 * @param instr the text
 *
 * @example tsalt-ssh '*' hashutil.sha256_digest 'get salted'
 */
export const sha256_digest = async (instr: string): Promise<string> => hashBytes(String(instr));

/**
 * Returns the SHA-512 hash of a text.
 *
 * @param instr the text
 *
 * @example tsalt-ssh '*' hashutil.sha512_digest 'get salted'
 */
export const sha512_digest = async (instr: string): Promise<string> =>
  hashBytes(String(instr), 'sha512');

/**
 * Returns a text encoded as base64.
 *
 * @param instr the text
 *
 * @example tsalt-ssh '*' hashutil.base64_b64encode 'get salted'
 */
export const base64_b64encode = async (instr: string): Promise<string> =>
  Buffer.from(String(instr)).toString('base64');

/**
 * Decodes a base64 string to text.
 *
 * @param instr the base64
 *
 * @example tsalt-ssh '*' hashutil.base64_b64decode 'Z2V0IHNhbHRlZA=='
 */
export const base64_b64decode = async (instr: string): Promise<string> =>
  fromBase64(instr).toString('utf8');

/**
 * Returns a text encoded as base64, in lines of 76 characters.
 *
 * @param instr the text
 *
 * @example tsalt-ssh '*' hashutil.base64_encodestring 'get salted'
 */
export const base64_encodestring = async (instr: string): Promise<string> =>
  Buffer.from(String(instr))
    .toString('base64')
    .replace(/.{1,76}/g, line => `${line}\n`);

/**
 * Decodes base64 lines to text.
 *
 * @param instr the base64
 *
 * @example tsalt-ssh '*' hashutil.base64_decodestring 'Z2V0IHNhbHRlZA=='
 */
export const base64_decodestring = async (instr: string): Promise<string> =>
  fromBase64(instr).toString('utf8');

/**
 * Returns a file encoded as base64, in lines of 76 characters.
 *
 * @param fname the file
 *
 * @example tsalt-ssh '*' hashutil.base64_encodefile /path/to/binary_file
 */
export const base64_encodefile = async (fname: string): Promise<string> =>
  readFileSync(fname)
    .toString('base64')
    .replace(/.{1,76}/g, line => `${line}\n`);

/**
 * Decodes a base64 string and writes the result to a file.
 *
 * @param instr the base64
 * @param outfile the file
 *
 * @example tsalt-ssh '*' hashutil.base64_decodefile instr='Z2V0IHNhbHRlZA==' outfile=/tmp/salted
 */
export const base64_decodefile = async (instr: string, outfile: string): Promise<boolean> => {
  writeAtomic(outfile, fromBase64(instr));
  return true;
};

/**
 * Whether a text was signed with a secret (HMAC with SHA-256, in base64).
 *
 * @param string the text
 * @param shared_secret the secret
 * @param challenge_hmac the signature
 *
 * @example tsalt-ssh '*' hashutil.hmac_signature 'get salted' 'shared secret' 'eBWf9bstXg+NiP5AOwppB5HMvZiYMPzEM9W5YMm/AmQ='
 */
export const hmac_signature = async (
  string: string,
  shared_secret: string,
  challenge_hmac: string,
): Promise<boolean> => {
  const expected = createHmac('sha256', shared_secret).update(string).digest();
  const given = Buffer.from(challenge_hmac, 'base64');
  return given.length === expected.length && timingSafeEqual(given, expected);
};

/**
 * Returns the HMAC of a text with a secret, with SHA-256, in hexadecimal.
 *
 * @param string the text
 * @param shared_secret the secret
 *
 * @example tsalt-ssh '*' hashutil.hmac_compute 'get salted' 'shared secret'
 */
export const hmac_compute = async (string: string, shared_secret: string): Promise<string> =>
  createHmac('sha256', shared_secret).update(string).digest('hex');

/**
 * Whether GitHub signed a text with a secret (the header `X-Hub-Signature`).
 *
 * @param string the text
 * @param shared_secret the secret
 * @param challenge_hmac the signature, with its algorithm: `sha1=7d38…`
 *
 * @example tsalt-ssh '*' hashutil.github_signature '{"ref": …}' 'shared secret' 'sha1=bc6550fc…'
 */
export const github_signature = async (
  string: string,
  shared_secret: string,
  challenge_hmac: string,
): Promise<boolean> => {
  const [algorithm = '', signature = ''] = challenge_hmac.split('=', 2);
  if (!getHashes().includes(algorithm))
    throw new SaltInvocationError(
      `A signature begins with its algorithm: sha256=…, not ${algorithm}`,
    );
  const expected = createHmac(algorithm, shared_secret).update(string).digest();
  const given = Buffer.from(signature, 'hex');
  return given.length === expected.length && timingSafeEqual(given, expected);
};

/** Decodes base64. Like Python, skips invalid characters and refuses truncated data. */
const fromBase64 = (text: string): Buffer => {
  const [digits = '', padding = ''] =
    String(text)
      .replace(/[^A-Za-z0-9+/=]/g, '')
      .match(/^[^=]*|=+/g) ?? [];
  const lacking = (4 - (digits.length % 4)) % 4;
  if (lacking > padding.length)
    throw new SaltInvocationError('This is not base64: its end or its padding (=) is missing');
  return Buffer.from(digits, 'base64');
};
