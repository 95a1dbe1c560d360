import type { KeyObject } from 'node:crypto';
import { existsSync, readFileSync } from '../_shared/safe-fs/fs.ts';
import { SaltInvocationError } from '../api.ts';
import { type Der, explicit, integer, oid, oidText, readDer, sequence, setOf } from './der.ts';
import { entryBytes, pemEntries, toPem } from './pem.ts';
import { isPkcs12, readPkcs12, writePkcs12 } from './pkcs12.ts';
import { readCertificate } from './x509-certificate.ts';
import { privatePem } from './x509-keys.ts';

/** How Salt's x509 functions write things; which of them is for what, each says itself. */
export type Encoding = 'pem' | 'der' | 'pkcs7_pem' | 'pkcs7_der' | 'pkcs12';

/** @throws SaltInvocationError for another one than these */
export const checkEncoding = <E extends Encoding>(given: string, ...known: readonly E[]): E => {
  const found = known.find(one => one === given);
  if (found !== undefined) return found;
  const valid = [...known].sort().join(', ');
  throw new SaltInvocationError(`Invalid value '${given}' for encoding. Valid: ${valid}`);
};

/** The content of a file, converted to PEM. */
export type Encoded = {
  readonly encoding: Encoding;
  /** All of it, one entry behind the other; the bytes as they are where they cannot be read. */
  readonly pem: string;
  readonly key?: KeyObject | undefined;
  readonly friendlyName?: string | null | undefined;
  /** It cannot be read without a passphrase. */
  readonly isLocked?: boolean;
  /** Why it cannot be read. */
  readonly problem?: string;
};

const signedData = '1.2.840.113549.1.7.2';

/**
 * Reads a file in any encoding; undefined where there is none.
 *
 * @param label the PEM label for the content of a DER file
 */
export const readEncoded = (
  path: string,
  label: string,
  passphrase: string | null = null,
): Encoded | undefined => {
  if (!existsSync(path)) return undefined;
  const bytes = readFileSync(path);
  const text = bytes.toString('latin1');
  const [first] = pemEntries(text);
  try {
    if (first?.label === 'PKCS7')
      return { encoding: 'pkcs7_pem', pem: pemOfPkcs7(readDer(entryBytes(first.text))) };
    return first ? { encoding: 'pem', pem: text } : readBinary(bytes, label, passphrase);
  } catch (error) {
    return { encoding: 'pem', pem: text, problem: (error as Error).message };
  }
};

const readBinary = (bytes: Buffer, label: string, passphrase: string | null): Encoded => {
  const der = readDer(bytes);
  if (isSignedData(der)) return { encoding: 'pkcs7_der', pem: pemOfPkcs7(der) };
  if (!isPkcs12(der)) return { encoding: 'der', pem: toPem(labelOf(der, label), bytes) };
  const { key, certificates, friendlyName, isSealed = false } = readPkcs12(der, passphrase);
  const pem = certificates.map(one => toPem('CERTIFICATE', one)).join('');
  return {
    encoding: 'pkcs12',
    pem: pem || (key ? privatePem(key) : ''),
    key,
    friendlyName: friendlyName ?? null,
    isLocked: isSealed,
  };
};

/** A private key that is encrypted begins by how. */
const labelOf = ({ children: [first] }: Der, label: string): string =>
  label === 'PRIVATE KEY' && first?.tag === 0x30 ? `ENCRYPTED ${label}` : label;

const isSignedData = ({ children: [type] }: Der): boolean =>
  type?.tag === 0x06 && oidText(type) === signedData;

const pemOfPkcs7 = (der: Der): string =>
  (der.children[1]?.children[0]?.children.find(({ tag }) => tag === 0xa0)?.children ?? [])
    .map(({ raw }) => toPem('CERTIFICATE', raw))
    .join('');

/** Certificates without anything signed (RFC 2315). */
const pkcs7 = (certificates: readonly Buffer[]): Buffer =>
  sequence(
    oid(signedData),
    explicit(
      0,
      sequence(
        integer(1),
        setOf(),
        sequence(oid('1.2.840.113549.1.7.1')),
        explicit(0, ...certificates),
        setOf(),
      ),
    ),
  );

/** The encodings of certificates. */
export const certificateEncodings = ['pem', 'der', 'pkcs7_pem', 'pkcs7_der', 'pkcs12'] as const;

/** Salt's arguments of a certificate's file. */
export type CertificateOptions = {
  encoding?: string;
  append_certs?: string[];
  /** encrypts a pkcs12 file */
  pkcs12_passphrase?: string | null;
  /** encrypts it by triple DES and SHA 1, for programs that know nothing better */
  pkcs12_encryption_compat?: boolean;
  /** the certificate's name in a pkcs12 file */
  pkcs12_friendlyname?: string | null;
};

/** A certificate with those that follow it (PEMs or files). */
export const certificateFile = (
  der: Buffer,
  following: readonly string[],
  key: KeyObject | undefined,
  { pkcs12_passphrase, pkcs12_encryption_compat, pkcs12_friendlyname }: CertificateOptions,
): CertificateFile => ({
  certificates: [der, ...following.map(one => readCertificate(one).der)],
  key,
  passphrase: pkcs12_passphrase,
  compat: pkcs12_encryption_compat,
  friendlyName: pkcs12_friendlyname,
});

/** A certificate's file with all that is in it. */
type CertificateFile = {
  /** As DER, the first its own. */
  readonly certificates: readonly Buffer[];
  readonly key?: KeyObject | undefined;
  readonly passphrase?: string | null | undefined;
  readonly compat?: boolean | undefined;
  readonly friendlyName?: string | null | undefined;
};

/**
 * The bytes of a file with certificates.
 *
 * @throws SaltInvocationError where this encoding cannot hold them
 */
export const encodeCertificates = (
  { certificates, key, passphrase, compat = false, friendlyName }: CertificateFile,
  encoding: Encoding,
): Buffer => {
  if (encoding === 'der' && certificates.length > 1)
    throw new SaltInvocationError('Cannot encode a certificate chain in DER');
  if (encoding === 'pkcs12' && !key)
    throw new SaltInvocationError(
      'Creating a PKCS12-encoded certificate without embedded private key is unsupported',
    );
  if (encoding === 'pkcs12')
    return writePkcs12(
      { key, certificates, friendlyName },
      passphrase ? { passphrase, compat } : undefined,
    );
  if (encoding === 'pkcs7_der') return pkcs7(certificates);
  if (encoding === 'pkcs7_pem') return Buffer.from(toPem('PKCS7', pkcs7(certificates)));
  if (encoding === 'der') return certificates[0] ?? Buffer.alloc(0);
  return Buffer.from(certificates.map(one => toPem('CERTIFICATE', one)).join(''));
};

/** One entry as it is, or as PEM with this label. */
export const encodeOne = (label: string, der: Buffer, encoding: 'pem' | 'der'): Buffer =>
  encoding === 'der' ? der : Buffer.from(toPem(label, der));

/** The bytes of a private key's file. */
export const encodeKey = (
  key: KeyObject,
  encoding: 'pem' | 'der' | 'pkcs12',
  { passphrase, compat = false }: { passphrase?: string | null; compat?: boolean } = {},
): Buffer => {
  if (encoding === 'pkcs12')
    return writePkcs12({ key, certificates: [] }, passphrase ? { passphrase, compat } : undefined);
  const pem = privatePem(key, passphrase);
  return encoding === 'der' ? entryBytes(pem) : Buffer.from(pem);
};

/** An answer that text can be: PEM as it is, other encodings as base64. */
export const encodedResult = (bytes: Buffer, encoding: Encoding): string =>
  encoding === 'pem' || encoding === 'pkcs7_pem' ? bytes.toString() : bytes.toString('base64');
