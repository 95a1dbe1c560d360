/**
 * X.509: private keys, requests, certificates and revocation lists, made with Node's own
 * cryptography: the host needs no openssl.
 */
import { type PlainDict, SaltInvocationError } from '../../api.ts';
import { writeAtomic } from '../../lib/atomic-write.ts';
import { toPem } from '../../lib/pem.ts';
import { buildCertificate, readCertificate } from '../../lib/x509-certificate.ts';
import { extensionsOf } from '../../lib/x509-extensions.ts';
import { loadPrivateKey, newPrivateKey, privatePem, spkiOf } from '../../lib/x509-keys.ts';
import { subjectOf } from '../../lib/x509-names.ts';
import { buildRequest, buildRevocationList } from '../../lib/x509-requests.ts';
import { type RevokedItem, revokedOf } from '../../lib/x509-revoked.ts';
import {
  addDays,
  checkKeywords,
  digestIn,
  signingPolicy,
  validity,
  wishOf,
} from '../../lib/x509-wish.ts';

/** Gives the text, or writes it where a path is given. */
const deliver = (pem: string, path: string | null, what: string, secret = false): string => {
  if (path === null) return pem;
  writeAtomic(path, pem, secret ? { mode: 0o600 } : {});
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
 * @example tsalt-ssh web1 x509.create_private_key path=/etc/pki/web.key algo=ec
 */
export const create_private_key = async (
  path: string | null = null,
  {
    algo = 'rsa',
    keysize = null,
    bits = null,
    passphrase = null,
  }: {
    algo?: string;
    keysize?: number | null;
    bits?: number | null;
    passphrase?: string | null;
  } = {},
): Promise<string> =>
  deliver(
    privatePem(newPrivateKey(algo, keysize ?? bits ?? undefined), passphrase),
    path,
    'Private key',
    true,
  );

/**
 * Makes a certificate signing request.
 *
 * @param path where to write it; its text is the answer when left out
 * @param private_key the key that asks: a PEM or a file
 * @param private_key_passphrase of that key
 * @param digest sha256 …
 * @param keywords parts of the subject (`CN`, `O` …) and extensions (`subjectAltName` …)
 * @example tsalt-ssh web1 x509.create_csr private_key=/etc/pki/web.key CN=www.example.com
 */
export const create_csr = async (
  path: string | null = null,
  {
    private_key,
    private_key_passphrase = null,
    digest = 'sha256',
    ...keywords
  }: {
    private_key: string;
    private_key_passphrase?: string | null;
    digest?: string;
    [keyword: string]: unknown;
  },
): Promise<string> => {
  checkKeywords(keywords);
  const key = loadPrivateKey(private_key, private_key_passphrase);
  const extensions = extensionsOf(keywords, { publicKey: spkiOf(key) });
  const der = buildRequest(subjectOf(keywords), extensions, key, digestIn({ digest }, key));
  return deliver(toPem('CERTIFICATE REQUEST', der), path, 'CSR');
};

/**
 * Makes a certificate, signed by a CA or by its own key.
 *
 * @param path where to write it; its text is the answer when left out
 * @param keywords `signing_private_key`, `signing_cert`, `public_key` or `csr`, `days_valid`,
 *   `not_before`, `not_after`, `serial_number`, `digest`, `signing_policy`; parts of the subject
 *   (`CN`, `O` …) and extensions (`basicConstraints`, `subjectAltName` …)
 * @example tsalt-ssh web1 x509.create_certificate path=/etc/pki/ca.crt signing_private_key=/etc/pki/ca.key CN=CA basicConstraints='critical CA:true'
 */
export const create_certificate = async (
  path: string | null = null,
  { ...keywords }: { [keyword: string]: unknown } = {},
): Promise<string> => {
  const wish = await wishOf(keywords);
  const der = buildCertificate({ ...wish, ...validity(wish) }, wish.key, wish.digest);
  return deliver(toPem('CERTIFICATE', der), path, 'Certificate');
};

/**
 * Makes a list of revoked certificates.
 *
 * @param path where to write it; its text is the answer when left out
 * @param signing_private_key the CA's key
 * @param signing_private_key_passphrase of that key
 * @param signing_cert the CA's certificate
 * @param revoked `{certificate: PEM or file}` or `{serial_number: …}` with `reason`, `revocation_date`, `not_after`
 * @param include_expired also those that are no longer valid anyway
 * @param days_valid how long the list holds
 * @param digest sha256 …
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
  }: {
    signing_private_key: string;
    signing_private_key_passphrase?: string | null;
    signing_cert: string;
    revoked?: RevokedItem[];
    include_expired?: boolean;
    days_valid?: number;
    digest?: string;
  },
): Promise<string> => {
  const key = loadPrivateKey(signing_private_key, signing_private_key_passphrase);
  const authority = readCertificate(signing_cert);
  if (!authority.publicKey.equals(spkiOf(key)))
    throw new SaltInvocationError(
      "Signing private key does not match the certificate's public key",
    );
  const from = new Date(Math.floor(Date.now() / 1000) * 1000);
  const der = buildRevocationList(
    {
      issuer: authority.subject,
      from,
      until: addDays(from, days_valid),
      revoked: revokedOf(revoked, include_expired),
      number: BigInt(Math.floor(from.getTime() / 1000)),
    },
    key,
    digestIn({ digest: digest === '' ? undefined : digest }, key),
  );
  return deliver(toPem('X509 CRL', der), path, 'CRL');
};

/** A signing policy of `x509_signing_policies` in the configuration or the pillar. */
export const get_signing_policy = async (signing_policy: string): Promise<PlainDict> =>
  signingPolicy(signing_policy);
