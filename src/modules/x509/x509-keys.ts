import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  X509Certificate,
} from 'node:crypto';
import { getOwn } from '../../protocol/plain.ts';
import { readFileSync } from '../_shared/safe-fs/fs.ts';
import { CommandExecutionError, SaltInvocationError } from '../api.ts';
import { nothing, oid, sequence } from './der.ts';

/** A file that something is to be made of is not there. */
export class NoSuchFileError extends CommandExecutionError {}

/** Returns the PEM itself, or the content of the file with it. DER files are accepted too. */
export const pemOrFile = (given: string): string | Buffer => {
  if (given.includes('-----BEGIN ')) return given;
  try {
    const bytes = readFileSync(given);
    const text = bytes.toString('latin1');
    return text.includes('-----BEGIN ') ? text : bytes;
  } catch (error) {
    const code = String(Reflect.get(error as object, 'code'));
    const Failure = code === 'ENOENT' ? NoSuchFileError : CommandExecutionError;
    throw new Failure(
      `${given.length > 200 ? 'The text' : given} is neither a PEM nor a file that can be read (${code})`,
    );
  }
};

/** Loads a private key from a PEM or a file. */
export const loadPrivateKey = (given: string, passphrase?: string | null): KeyObject => {
  const key = pemOrFile(given);
  const secret = passphrase === undefined || passphrase === null ? {} : { passphrase };
  try {
    return Buffer.isBuffer(key)
      ? createPrivateKey({ key, format: 'der', type: 'pkcs8', ...secret })
      : createPrivateKey({ key, ...secret });
  } catch {
    // Node's own words are OpenSSL's error numbers.
    throw new CommandExecutionError(
      'The private key cannot be read: it is none, or the passphrase is wrong or missing',
    );
  }
};

/** The public key of a certificate, a request, a public or a private key. */
export const loadPublicKey = (given: string, passphrase?: string | null): KeyObject => {
  const key = pemOrFile(given);
  const text = Buffer.isBuffer(key) ? '' : key;
  try {
    if (text.includes('BEGIN CERTIFICATE-----')) return new X509Certificate(text).publicKey;
    if (text.includes('PRIVATE KEY-----')) return createPublicKey(loadPrivateKey(text, passphrase));
    return Buffer.isBuffer(key)
      ? createPublicKey({ key, format: 'der', type: 'spki' })
      : createPublicKey(text);
  } catch (error) {
    if (error instanceof CommandExecutionError) throw error;
    throw new CommandExecutionError('The public key cannot be read');
  }
};

export const spkiOf = (key: KeyObject): Buffer =>
  (key.type === 'private' ? createPublicKey(key) : key).export({ format: 'der', type: 'spki' });

const curves: Readonly<Record<number, string>> = { 256: 'P-256', 384: 'P-384', 521: 'P-521' };

/** Salt's algorithms: rsa (2048 bits and more), ec (256, 384, 521), ed25519, ed448. */
export const newPrivateKey = (algo: string, size: number | undefined): KeyObject => {
  if (algo === 'rsa') {
    const bits = size ?? 2048;
    if (!Number.isInteger(bits) || bits < 1024 || bits > 16_384)
      throw new SaltInvocationError(`An RSA key has 1024 to 16384 bits, not ${bits}`);
    return generateKeyPairSync('rsa', { modulusLength: bits }).privateKey;
  }
  if (algo === 'ec') {
    const namedCurve = curves[size ?? 256];
    if (namedCurve === undefined)
      throw new SaltInvocationError(`An EC key has 256, 384 or 521 bits, not ${size}`);
    return generateKeyPairSync('ec', { namedCurve }).privateKey;
  }
  if (algo === 'ed25519') return generateKeyPairSync('ed25519').privateKey;
  if (algo === 'ed448') return generateKeyPairSync('ed448').privateKey;
  throw new SaltInvocationError(
    `Invalid algorithm specified for generating private key: ${algo}. Valid: rsa, ec, ed25519, ed448`,
  );
};

/** `rsa`, `ec`, `ed25519` or `ed448`. */
export const algorithmOf = ({ asymmetricKeyType }: KeyObject): string => asymmetricKeyType ?? '';

export const keySizeOf = (key: KeyObject): number | undefined => {
  const { modulusLength, namedCurve } = key.asymmetricKeyDetails ?? {};
  const sizes: Record<string, number> = { prime256v1: 256, secp384r1: 384, secp521r1: 521 };
  return modulusLength ?? (namedCurve === undefined ? undefined : getOwn(sizes, namedCurve));
};

/** A private key as PEM (PKCS 8), under a passphrase where one is given. */
export const privatePem = (key: KeyObject, passphrase?: string | null): string =>
  passphrase === undefined || passphrase === null
    ? key.export({ format: 'pem', type: 'pkcs8' }).toString()
    : key.export({ format: 'pem', type: 'pkcs8', cipher: 'aes-256-cbc', passphrase }).toString();

const rsaWith: Readonly<Record<string, string>> = {
  sha1: '1.2.840.113549.1.1.5',
  sha224: '1.2.840.113549.1.1.14',
  sha256: '1.2.840.113549.1.1.11',
  sha384: '1.2.840.113549.1.1.12',
  sha512: '1.2.840.113549.1.1.13',
};

const ecdsaWith: Readonly<Record<string, string>> = {
  sha1: '1.2.840.10045.4.1',
  sha224: '1.2.840.10045.4.3.1',
  sha256: '1.2.840.10045.4.3.2',
  sha384: '1.2.840.10045.4.3.3',
  sha512: '1.2.840.10045.4.3.4',
};

/** How a key signs: the algorithm's identifier, and the signature itself. */
export const signerOf = (
  key: KeyObject,
  digest: string,
): { readonly algorithm: Buffer; readonly sign: (body: Buffer) => Buffer } => {
  const type = algorithmOf(key);
  if (type === 'ed25519' || type === 'ed448')
    return {
      algorithm: sequence(oid(type === 'ed25519' ? '1.3.101.112' : '1.3.101.113')),
      sign: body => sign(null, body, key),
    };
  const id = getOwn(type === 'rsa' ? rsaWith : ecdsaWith, digest);
  if (id === undefined)
    throw new SaltInvocationError(
      `The digest '${digest}' is not known: ${Object.keys(rsaWith).join(', ')}`,
    );
  return {
    algorithm: type === 'rsa' ? sequence(oid(id), nothing) : sequence(oid(id)),
    sign: body => sign(digest, body, key),
  };
};
