/**
 * X.509: private keys, requests, certificates and revocation lists as files. Made with Node's own
 * cryptography: the host needs no openssl.
 */
import type { KeyObject } from 'node:crypto';
import { type PlainDict, SaltInvocationError, type StateReturn } from '../../../api.ts';
import {
  addDays,
  type DesiredCertificate,
  dateText,
  desiredCertificate,
  validity,
} from '../../desired-certificate.ts';
import { pemEntries } from '../../pem.ts';
import {
  buildCertificate,
  type Certificate,
  isSignedBy,
  publicKeyOf,
  readCertificate,
} from '../../x509-certificate.ts';
import {
  different,
  failOrForesee,
  isWrongOnlyIn,
  otherEncoding,
  showName,
  tryRead,
} from '../../x509-compare.ts';
import {
  type CertificateOptions,
  certificateEncodings,
  certificateFile,
  checkEncoding,
  type Encoded,
  encodeCertificates,
  readEncoded,
} from '../../x509-encodings.ts';
import { keepPem, splitFileArguments } from '../../x509-file.ts';
import { loadPrivateKey, spkiOf } from '../../x509-keys.ts';

/**
 * A certificate is there, with these words, signed by this key, and still valid for a while.
 * It is replaced when one of these is not true, and written again for another encoding, chain or
 * name in a pkcs12 file.
 *
 * @param name the file
 * @param days_remaining renew when it ends within so many days
 * @param append_certs certificates that follow it in the file: PEMs or files
 * @param encoding pem, der, pkcs7_pem, pkcs7_der or pkcs12, which holds `private_key` too
 * @param keywords `signing_private_key`, `signing_private_key_passphrase`, `signing_cert`,
 *   `public_key`, `private_key` or `csr`, `days_valid`, `not_before`, `not_after`,
 *   `serial_number`, `digest`, `signing_policy`; parts of the subject (`CN`, `O` …); extensions
 *   (`basicConstraints`, `keyUsage`, `subjectAltName` …); and `user`, `group`, `mode`, `makedirs`,
 *   `dir_mode`, `backup` of the file
 * @example
 * /etc/pki/web.crt:
 *   x509.certificate_managed:
 *     - signing_private_key: /etc/pki/ca.key
 *     - signing_cert: /etc/pki/ca.crt
 *     - public_key: /etc/pki/web.key
 *     - CN: www.example.com
 *     - subjectAltName: 'DNS:www.example.com'
 *     - days_valid: 90
 *     - days_remaining: 30
 */
export const certificate_managed = async (
  name: string,
  {
    days_remaining = 90,
    append_certs = [],
    encoding = 'pem',
    pkcs12_passphrase = null,
    pkcs12_encryption_compat = false,
    pkcs12_friendlyname = null,
    ...keywords
  }: CertificateOptions & { days_remaining?: number; [keyword: string]: unknown } = {},
): Promise<StateReturn> =>
  failOrForesee(name, async () => {
    const how = checkEncoding(encoding, ...certificateEncodings);
    const { file, rest } = splitFileArguments(keywords);
    const key = how === 'pkcs12' ? keyFor(rest) : undefined;
    const present = readEncoded(name, 'CERTIFICATE', pkcs12_passphrase);
    const old = present && tryRead(() => readCertificate(present.pem));
    const wish = await desiredCertificate(rest, old);
    const chain = append_certs.map(one => readCertificate(one).der);
    let wrong: PlainDict | undefined = present === undefined ? { created: name } : undefined;
    let kept: Buffer | undefined;
    if (present !== undefined) {
      const parts = wrongOf(old, wish, days_remaining);
      Object.assign(parts, otherEncoding(present, how));
      const following = pemEntries(present.pem)
        .slice(1)
        .map(one => readCertificate(one.text).der);
      if (!Buffer.concat(following).equals(Buffer.concat(chain)))
        parts.append_certs = { old: following.length, new: chain.length };
      if (key && present.encoding === 'pkcs12')
        Object.assign(
          parts,
          wrongBeside(present, key, pkcs12_friendlyname),
          pkcs12_passphrase && !present.isLocked
            ? { pkcs12_passphrase: { old: 'none', new: 'set' } }
            : {},
        );
      if (Object.keys(parts).length > 0) wrong = parts;
      if (isWrongOnlyIn(parts, ...besideCertificate)) kept = old?.der;
    }
    return keepPem(name, {
      what: 'The certificate',
      wrong,
      make: async () => {
        const der = kept ?? build(wish.hasSerial || !old ? wish : await desiredCertificate(rest));
        const options = { pkcs12_passphrase, pkcs12_encryption_compat, pkcs12_friendlyname };
        return encodeCertificates(certificateFile(der, append_certs, key, options), how);
      },
      // There is a private key in it.
      file: how === 'pkcs12' ? { ...file, mode: file.mode || '0400' } : file,
    });
  });

/** A new certificate; without a given serial number it has one of its own. */
const build = (wish: DesiredCertificate): Buffer =>
  buildCertificate({ ...wish, ...validity(wish) }, wish.key, wish.digest);

/** Differences that do not concern the certificate itself. */
const besideCertificate = ['encoding', 'append_certs', 'pkcs12_friendlyname', 'pkcs12_passphrase'];

const keyFor = ({ private_key, private_key_passphrase }: Record<string, unknown>): KeyObject => {
  if (typeof private_key === 'string')
    return loadPrivateKey(
      private_key,
      typeof private_key_passphrase === 'string' ? private_key_passphrase : null,
    );
  throw new SaltInvocationError(
    'Creating a PKCS12-encoded certificate without embedded private key is unsupported',
  );
};

/** The differences of a PKCS 12 file, apart from its certificates. */
const wrongBeside = (present: Encoded, key: KeyObject, name: string | null): PlainDict => ({
  ...(present.key && spkiOf(present.key).equals(spkiOf(key))
    ? {}
    : { private_key: { old: 'another', new: 'as given' } }),
  ...((present.friendlyName ?? null) === (name || null)
    ? {}
    : { pkcs12_friendlyname: { old: present.friendlyName ?? null, new: name } }),
});

const wrongOf = (
  old: Certificate | undefined,
  wish: DesiredCertificate,
  daysRemaining: number,
): PlainDict => {
  const parts = different(old, wish, wish.digest);
  if (!old) return parts;
  if (!old.issuer.equals(wish.issuer))
    parts.issuer_name = { old: showName(old.issuer), new: showName(wish.issuer) };
  if (old.serial !== wish.serial)
    parts.serial_number = { old: String(old.serial), new: String(wish.serial) };
  if (!isSignedBy(old, publicKeyOf(spkiOf(wish.key))))
    parts.signing_private_key = { old: 'another', new: 'as given' };
  for (const [key, wanted] of [
    ['from', wish.from],
    ['until', wish.until],
  ] as const)
    if (wanted && wanted.getTime() !== old[key].getTime())
      parts[key === 'from' ? 'not_before' : 'not_after'] = {
        old: dateText(old[key]),
        new: dateText(wanted),
      };
  if (!wish.until && old.until <= addDays(new Date(), daysRemaining))
    parts.expiration = { old: dateText(old.until), new: dateText(validity(wish).until) };
  return parts;
};
