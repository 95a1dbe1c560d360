/**
 * X.509: private keys, requests, certificates and revocation lists, made with Node's own
 * cryptography: the host needs no openssl.
 */

import { writeAtomic } from '../../../_shared/files/atomic-write.ts';
import { type PlainDict, SaltInvocationError } from '../../../api.ts';
import {
  addDays,
  checkKeywords,
  desiredCertificate,
  digestIn,
  signingPolicy,
  validity,
} from '../../desired-certificate.ts';
import { privateEntries } from '../../pem.ts';
import { buildCertificate, readCertificate } from '../../x509-certificate.ts';
import { crlExtensions } from '../../x509-crl-extensions.ts';
import {
  type CertificateOptions,
  certificateEncodings,
  certificateFile,
  checkEncoding,
  type Encoding,
  encodeCertificates,
  encodedResult,
  encodeKey,
  encodeOne,
} from '../../x509-encodings.ts';
import { extensionsOf } from '../../x509-extensions.ts';
import { loadPrivateKey, newPrivateKey, spkiOf } from '../../x509-keys.ts';
import { subjectOf } from '../../x509-names.ts';
import { buildRequest, buildRevocationList } from '../../x509-requests.ts';
import { type RevokedItem, revokedOf } from '../../x509-revoked.ts';

type Made = { readonly bytes: Buffer; readonly encoding: Encoding };

/** Returns the result as text, or writes it to a given path. */
const deliver = (
  { bytes, encoding }: Made,
  path: string | null,
  what: string,
  { isSecret = false, overwrite = true }: { isSecret?: boolean; overwrite?: boolean } = {},
): string => {
  if (path === null) return encodedResult(bytes, encoding);
  const before = overwrite ? '' : privateEntries(path);
  const isPrivate = isSecret || before !== '';
  writeAtomic(path, Buffer.concat([Buffer.from(before), bytes]), isPrivate ? { mode: 0o600 } : {});
  return `${what} written to ${path}`;
};

/**
 * Makes a private key.
 *
 * @param path where to write it (0600); its text is the answer when left out
 * @param algo rsa, ec, ed25519 or ed448
 * @param keysize bits: 2048 for rsa, 256, 384 or 521 for ec
 * @param bits the older name of `keysize`
 * @param passphrase encrypts it
 * @param encoding pem, der or pkcs12; the last two are base64 as an answer
 * @param pkcs12_encryption_compat encrypts a pkcs12 file by triple DES and SHA 1, for programs that know nothing better
 * @param raw taken, and of no effect: an answer is text
 * @example tsalt-ssh web1 x509.create_private_key path=/etc/pki/web.key algo=ec
 */
export const create_private_key = async (
  path: string | null = null,
  {
    algo = 'rsa',
    keysize = null,
    bits = null,
    passphrase = null,
    encoding = 'pem',
    pkcs12_encryption_compat: compat = false,
    raw: _ = false,
  }: {
    algo?: string;
    keysize?: number | null;
    bits?: number | null;
    passphrase?: string | null;
    encoding?: string;
    pkcs12_encryption_compat?: boolean;
    raw?: boolean;
  } = {},
): Promise<string> => {
  const how = checkEncoding(encoding, 'pem', 'der', 'pkcs12');
  const key = newPrivateKey(algo, keysize ?? bits ?? undefined);
  const bytes = encodeKey(key, how, { passphrase, compat });
  return deliver({ bytes, encoding: how }, path, 'Private key', { isSecret: true });
};

/**
 * Makes a certificate signing request.
 *
 * @param path where to write it; its text is the answer when left out
 * @param private_key the key that asks: a PEM or a file
 * @param private_key_passphrase of that key
 * @param digest sha256 …; `algorithm` is its older name
 * @param encoding pem or der; the last is base64 as an answer
 * @param raw taken, and of no effect: an answer is text
 * @param keywords parts of the subject (`CN`, `O` …) and extensions (`subjectAltName` …)
 * @example tsalt-ssh web1 x509.create_csr private_key=/etc/pki/web.key CN=www.example.com
 */
export const create_csr = async (
  path: string | null = null,
  {
    private_key,
    private_key_passphrase = null,
    digest = 'sha256',
    encoding = 'pem',
    raw: _ = false,
    ...keywords
  }: {
    private_key: string;
    private_key_passphrase?: string | null;
    digest?: string;
    encoding?: string;
    raw?: boolean;
    [keyword: string]: unknown;
  },
): Promise<string> => {
  const how = checkEncoding(encoding, 'pem', 'der');
  checkKeywords(keywords);
  const key = loadPrivateKey(private_key, private_key_passphrase);
  const extensions = extensionsOf(keywords, { publicKey: spkiOf(key) });
  const der = buildRequest(
    subjectOf(keywords),
    extensions,
    key,
    digestIn({ digest: keywords.algorithm ?? digest }, key),
  );
  const bytes = encodeOne('CERTIFICATE REQUEST', der, how);
  return deliver({ bytes, encoding: how }, path, 'CSR');
};

/**
 * Makes a certificate, signed by a CA or by its own key.
 *
 * @param path where to write it; without it, the text is returned
 * @param overwrite false: keep a private key that the file contains, before the certificate
 * @param encoding pem, der, pkcs7_pem, pkcs7_der or pkcs12, which also contains `private_key`;
 * formats other than PEM are returned as base64
 * @param append_certs certificates that follow it: PEMs or files
 * @param raw taken, and of no effect: an answer is text
 * @param keywords `signing_private_key`, `signing_cert`, `public_key` or `csr`, `days_valid`,
 *   `not_before`, `not_after`, `serial_number`, `digest`, `signing_policy`; parts of the subject
 *   (`CN`, `O` …) and extensions (`basicConstraints`, `subjectAltName` …)
 * @example tsalt-ssh web1 x509.create_certificate path=/etc/pki/ca.crt signing_private_key=/etc/pki/ca.key CN=CA basicConstraints='critical CA:true'
 */
export const create_certificate = async (
  path: string | null = null,
  {
    overwrite = true,
    raw: _ = false,
    encoding = 'pem',
    append_certs = [],
    pkcs12_passphrase = null,
    pkcs12_encryption_compat = false,
    pkcs12_friendlyname = null,
    ...keywords
  }: CertificateOptions & { overwrite?: boolean; [keyword: string]: unknown } = {},
): Promise<string> => {
  const how = checkEncoding(encoding, ...certificateEncodings);
  const { private_key, private_key_passphrase } = keywords;
  const key =
    how === 'pkcs12' && typeof private_key === 'string'
      ? loadPrivateKey(private_key, private_key_passphrase as string | null | undefined)
      : undefined;
  const wish = await desiredCertificate(keywords);
  const der = buildCertificate({ ...wish, ...validity(wish) }, wish.key, wish.digest);
  const options = { pkcs12_passphrase, pkcs12_encryption_compat, pkcs12_friendlyname };
  const bytes = encodeCertificates(certificateFile(der, append_certs, key, options), how);
  const isSecret = how === 'pkcs12';
  return deliver({ bytes, encoding: how }, path, 'Certificate', { isSecret, overwrite });
};

/**
 * Makes a list of revoked certificates.
 *
 * @param path where to write it; its text is the answer when left out
 * @param signing_private_key the CA's key
 * @param signing_private_key_passphrase of that key
 * @param signing_cert the CA's certificate
 * @param revoked `{certificate: PEM or file}` or `{serial_number: …}` with `extensions: {CRLReason: …}`,
 *   `revocation_date`, `not_after`
 * @param include_expired also those that are no longer valid anyway
 * @param days_valid how long the list holds
 * @param digest sha256 …
 * @param encoding pem or der; the last is base64 as an answer
 * @param raw taken, and of no effect: an answer is text
 * @param extensions the list's extensions: `cRLNumber` (a number, or `auto`), `deltaCRLIndicator`, `issuingDistributionPoint`,
 *   `freshestCRL`, `authorityKeyIdentifier`, `authorityInfoAccess`, `issuerAltName`
 * @example tsalt-ssh ca x509.create_crl path=/etc/pki/ca.crl signing_private_key=/etc/pki/ca.key signing_cert=/etc/pki/ca.crt revoked='[{serial_number: D6:D2}]'
 */
export const create_crl = async (
  path: string | null = null,
  {
    signing_private_key,
    signing_private_key_passphrase = null,
    signing_cert,
    revoked = [],
    include_expired = false,
    days_valid = 100,
    digest = 'sha256',
    encoding = 'pem',
    raw: _ = false,
    extensions = {},
  }: {
    signing_private_key: string;
    signing_private_key_passphrase?: string | null;
    signing_cert: string;
    revoked?: RevokedItem[];
    include_expired?: boolean;
    days_valid?: number;
    digest?: string;
    encoding?: string;
    raw?: boolean;
    extensions?: PlainDict | null;
  },
): Promise<string> => {
  const how = checkEncoding(encoding, 'pem', 'der');
  const key = loadPrivateKey(signing_private_key, signing_private_key_passphrase);
  const authority = readCertificate(signing_cert);
  if (!authority.publicKey.equals(spkiOf(key)))
    throw new SaltInvocationError(
      "Signing private key does not match the certificate's public key",
    );
  const from = new Date(Math.floor(Date.now() / 1000) * 1000);
  const number = BigInt(Math.floor(from.getTime() / 1000));
  const der = buildRevocationList(
    {
      issuer: authority.subject,
      from,
      until: addDays(from, days_valid),
      revoked: revokedOf(revoked, include_expired),
      number,
      extensions: crlExtensions(extensions ?? {}, authority, number),
    },
    key,
    digestIn({ digest: digest === '' ? undefined : digest }, key),
  );
  const bytes = encodeOne('X509 CRL', der, how);
  return deliver({ bytes, encoding: how }, path, 'CRL');
};

/** A signing policy of `x509_signing_policies` in the configuration or the pillar. */
export const get_signing_policy = async (signing_policy: string): Promise<PlainDict> =>
  signingPolicy(signing_policy);
