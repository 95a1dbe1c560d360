/**
 * X.509: private keys, requests, certificates and revocation lists as files. Made with Node's own
 * cryptography: the host needs no openssl.
 */
import type { PlainDict, StateReturn } from '../../api.ts';
import { pemEntries, toPem } from '../../lib/pem.ts';
import {
  buildCertificate,
  type Certificate,
  isSignedBy,
  keyOf,
  readCertificate,
} from '../../lib/x509-certificate.ts';
import { different, failOrForesee, onlyPem, show, tryRead } from '../../lib/x509-compare.ts';
import { keepPem, presentText, splitFileArguments } from '../../lib/x509-file.ts';
import { spkiOf } from '../../lib/x509-keys.ts';
import { addDays, type CertificateWish, dateText, validity, wishOf } from '../../lib/x509-wish.ts';

/**
 * A certificate is there, with these words, signed by this key, and still valid for a while.
 * It is made anew when one of that does not hold.
 *
 * @param name the file
 * @param days_remaining renew when it ends within so many days
 * @param append_certs certificates that follow it in the file: PEMs or files
 * @param encoding pem is the only value
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
    ...keywords
  }: {
    days_remaining?: number;
    append_certs?: string[];
    encoding?: string;
    [keyword: string]: unknown;
  } = {},
): Promise<StateReturn> =>
  failOrForesee(name, async () => {
    onlyPem(encoding);
    const { file, rest } = splitFileArguments(keywords);
    const present = presentText(name);
    const old = present === undefined ? undefined : tryRead(() => readCertificate(present));
    const wish = await wishOf(rest, old);
    const chain = append_certs.map(one => toPem('CERTIFICATE', readCertificate(one).der));
    let wrong: PlainDict | undefined = present === undefined ? { created: name } : undefined;
    if (present !== undefined) {
      const parts = wrongOf(old, wish, days_remaining);
      const following = pemEntries(present)
        .slice(1)
        .map(one => readCertificate(one.text));
      if (toChain(following) !== chain.join(''))
        parts.append_certs = { old: following.length, new: chain.length };
      if (Object.keys(parts).length > 0) wrong = parts;
    }
    return keepPem(name, {
      what: 'The certificate',
      wrong,
      make: async () => {
        // A new certificate has a serial number of its own.
        const fresh = wish.hasSerial || !old ? wish : await wishOf(rest);
        const der = buildCertificate({ ...fresh, ...validity(fresh) }, fresh.key, fresh.digest);
        return [toPem('CERTIFICATE', der), ...chain].join('');
      },
      file,
    });
  });

const toChain = (certificates: readonly Certificate[]): string =>
  certificates.map(({ der }) => toPem('CERTIFICATE', der)).join('');

const wrongOf = (
  old: Certificate | undefined,
  wish: CertificateWish,
  daysRemaining: number,
): PlainDict => {
  const parts = different(old, wish, wish.digest);
  if (!old) return parts;
  if (!old.issuer.equals(wish.issuer))
    parts.issuer_name = { old: show(old.issuer), new: show(wish.issuer) };
  if (old.serial !== wish.serial)
    parts.serial_number = { old: String(old.serial), new: String(wish.serial) };
  if (!isSignedBy(old, keyOf(spkiOf(wish.key))))
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
