import { createHash, createPublicKey, type KeyObject, randomBytes, verify } from 'node:crypto';
import { messageOf } from '../../protocol/error.ts';
import { getOwn } from '../../protocol/plain.ts';
import { CommandExecutionError } from '../api.ts';
import {
  bits,
  type Der,
  explicit,
  integer,
  integerOf,
  oidText,
  readDer,
  sequence,
  time,
  timeOf,
} from './der.ts';
import { derOf } from './pem.ts';
import { type Extension, type ExtensionContext, encodeExtensions } from './x509-extensions.ts';
import { signerOf } from './x509-keys.ts';

/** A certificate's own words, before it is signed. */
export type CertificateParts = {
  readonly serial: bigint;
  readonly issuer: Buffer;
  readonly subject: Buffer;
  readonly publicKey: Buffer;
  readonly from: Date;
  readonly until: Date;
  readonly extensions: readonly Extension[];
};

/** A certificate as it was read. */
export type Certificate = CertificateParts & {
  readonly der: Buffer;
  /** The OID of the algorithm it was signed by. */
  readonly algorithm: string;
  readonly signed: Buffer;
  readonly signature: Buffer;
};

/** A serial number as RFC 5280 wants it: random, positive, of 20 bytes at most. */
export const newSerial = (): bigint => {
  const bytes = randomBytes(20);
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x40;
  return BigInt(`0x${bytes.toString('hex')}`);
};

export const buildCertificate = (
  parts: CertificateParts,
  key: KeyObject,
  digest: string,
): Buffer => {
  const signer = signerOf(key, digest);
  const body = sequence(
    explicit(0, integer(2)),
    integer(parts.serial),
    signer.algorithm,
    parts.issuer,
    sequence(time(parts.from), time(parts.until)),
    parts.subject,
    parts.publicKey,
    ...(parts.extensions.length > 0 ? [explicit(3, encodeExtensions(parts.extensions))] : []),
  );
  return sequence(body, signer.algorithm, bits(signer.sign(body)));
};

/**
 * Reads a certificate: PEM, or a file with PEM or DER.
 *
 * @throws CommandExecutionError where it is none
 */
export const readCertificate = (given: string): Certificate => {
  const der = derOf(given, 'CERTIFICATE', 'X509 CERTIFICATE', 'TRUSTED CERTIFICATE');
  try {
    return parseCertificate(der);
  } catch (error) {
    throw new CommandExecutionError(`The certificate cannot be read: ${messageOf(error)}`);
  }
};

const parseCertificate = (der: Buffer): Certificate => {
  const [body, algorithm, signature] = partsOf(readDer(der));
  const fields = body.children[0]?.tag === 0xa0 ? body.children.slice(1) : body.children;
  const [serial, , issuer, validity, subject, publicKey] = fields;
  const [from, until] = validity?.children ?? [];
  if (!serial || !issuer || !from || !until || !subject || !publicKey)
    throw new Error('a part of it is missing');
  const extensions = fields.find(({ tag }) => tag === 0xa3)?.children[0];
  return {
    der,
    serial: integerOf(serial),
    issuer: issuer.raw,
    subject: subject.raw,
    publicKey: publicKey.raw,
    from: timeOf(from),
    until: timeOf(until),
    extensions: readExtensions(extensions),
    algorithm: algorithmId(algorithm),
    signed: body.raw,
    signature: signature.body.subarray(1),
  };
};

/** Returns body, algorithm and signature: the frame of certificates, requests and CRLs. */
export const partsOf = ({ children }: Der): readonly [Der, Der, Der] => {
  const [body, algorithm, signature] = children;
  if (body && algorithm && signature && children.length === 3) return [body, algorithm, signature];
  throw new Error('it is not made of three parts');
};

export const algorithmId = ({ children }: Der): string =>
  children[0] === undefined ? '' : oidText(children[0]);

export const readExtensions = (list: Der | undefined): Extension[] =>
  (list?.children ?? []).flatMap(({ children }) => {
    const [id, ...rest] = children;
    const value = rest.at(-1);
    if (!id || !value) return [];
    return [
      { id: oidText(id), critical: rest.length > 1 && rest[0]?.body[0] !== 0, value: value.body },
    ];
  });

const digests: Readonly<Record<string, string | null>> = {
  '1.2.840.113549.1.1.4': 'md5',
  '1.2.840.113549.1.1.5': 'sha1',
  '1.2.840.113549.1.1.11': 'sha256',
  '1.2.840.113549.1.1.12': 'sha384',
  '1.2.840.113549.1.1.13': 'sha512',
  '1.2.840.113549.1.1.14': 'sha224',
  '1.2.840.10045.4.1': 'sha1',
  '1.2.840.10045.4.3.1': 'sha224',
  '1.2.840.10045.4.3.2': 'sha256',
  '1.2.840.10045.4.3.3': 'sha384',
  '1.2.840.10045.4.3.4': 'sha512',
  '1.3.101.112': null,
  '1.3.101.113': null,
};

/** The digest a signature was made with; null where the key's algorithm has its own. */
export const digestOf = (algorithm: string): string | null | undefined =>
  getOwn(digests, algorithm);

/** Was this signed by that key? */
export const isSignedBy = (
  { signed, signature, algorithm }: Pick<Certificate, 'signed' | 'signature' | 'algorithm'>,
  publicKey: KeyObject,
): boolean => {
  const digest = digestOf(algorithm);
  if (digest === undefined) return false;
  try {
    return verify(digest, signed, publicKey, signature);
  } catch {
    return false;
  }
};

/** The key in a SubjectPublicKeyInfo. */
export const publicKeyOf = (publicKey: Buffer): KeyObject =>
  createPublicKey({ key: publicKey, format: 'der', type: 'spki' });

/** `AA:BB:…` */
export const colons = (bytes: Buffer | bigint): string => {
  const hex = typeof bytes === 'bigint' ? evenHex(bytes) : bytes.toString('hex');
  return hex.toUpperCase().replace(/(..)(?=.)/g, '$1:');
};

const evenHex = (number: bigint): string => {
  const hex = number.toString(16);
  return hex.length % 2 === 0 ? hex : `0${hex}`;
};

export const certificateFingerprint = (digest: string, der: Buffer): string =>
  colons(createHash(digest).update(der).digest());

/** The signer, as extensions need it. */
export const signerIn = (authority: Certificate): NonNullable<ExtensionContext['issuer']> => ({
  publicKey: authority.publicKey,
  name: authority.issuer,
  serial: authority.serial,
  ...keyIdIn(authority),
});

const keyIdIn = ({ extensions }: Certificate): { keyId?: Buffer } => {
  const found = extensions.find(({ id }) => id === '2.5.29.14');
  return found ? { keyId: readDer(found.value).body } : {};
};
