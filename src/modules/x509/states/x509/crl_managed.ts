import { salt } from '../../../_shared/states/call.ts';
import { type PlainDict, SaltInvocationError, type StateReturn } from '../../../api.ts';
import { addDays, dateText, digestIn } from '../../desired-certificate.ts';
import { derOf } from '../../pem.ts';
import { isSignedBy, publicKeyOf, readCertificate } from '../../x509-certificate.ts';
import {
  failOrForesee,
  isWrongOnlyIn,
  otherDigest,
  otherEncoding,
  tryRead,
} from '../../x509-compare.ts';
import { crlExtensions, crlNumber, otherExtensions } from '../../x509-crl-extensions.ts';
import { checkEncoding, encodeOne, readEncoded } from '../../x509-encodings.ts';
import { keepPem, splitFileArguments } from '../../x509-file.ts';
import { loadPrivateKey, spkiOf } from '../../x509-keys.ts';
import { readRevocationList } from '../../x509-requests.ts';
import { type RevokedItem, revokedOf } from '../../x509-revoked.ts';

/**
 * A list of revoked certificates is there, signed by this key, and still valid for a while. For
 * another encoding, the existing list is written again.
 *
 * @param name the file
 * @param signing_private_key the CA's key
 * @param signing_private_key_passphrase of that key
 * @param signing_cert the CA's certificate
 * @param revoked `{certificate: PEM or file}` or `{serial_number: …}` with `extensions: {CRLReason: …}`,
 *   `revocation_date`, `not_after`
 * @param days_valid how long the list holds
 * @param days_remaining renew when it ends within so many days; 0: never for that
 * @param include_expired also those that are no longer valid anyway
 * @param digest sha256 …
 * @param encoding pem or der
 * @param extensions the list's extensions, as for `x509.create_crl`; with `cRLNumber: auto` each new one has the next number
 * @param keywords `user`, `group`, `mode`, `makedirs`, `dir_mode`, `backup` of the file
 * @example
 * /etc/pki/ca.crl:
 *   x509.crl_managed:
 *     - signing_private_key: /etc/pki/ca.key
 *     - signing_cert: /etc/pki/ca.crt
 *     - revoked:
 *       - certificate: /etc/pki/old.crt
 *         extensions:
 *           CRLReason: superseded
 */
export const crl_managed = async (
  name: string,
  {
    signing_private_key,
    signing_private_key_passphrase = null,
    signing_cert,
    revoked = [],
    days_valid = 100,
    days_remaining = 30,
    include_expired = false,
    digest = 'sha256',
    encoding = 'pem',
    extensions = null,
    ...keywords
  }: {
    signing_private_key: string;
    signing_private_key_passphrase?: string | null;
    signing_cert: string;
    revoked?: RevokedItem[];
    days_valid?: number;
    days_remaining?: number;
    include_expired?: boolean;
    digest?: string;
    encoding?: string;
    extensions?: PlainDict | null;
    [keyword: string]: unknown;
  },
): Promise<StateReturn> =>
  // biome-ignore lint/complexity/noExcessiveCognitiveComplexity: the steps of Salt's x509.crl_managed, in its order
  failOrForesee(name, async () => {
    const how = checkEncoding(encoding, 'pem', 'der');
    const { file, rest } = splitFileArguments(keywords);
    const [unknown] = Object.keys(rest);
    if (unknown !== undefined)
      throw new SaltInvocationError(`'${unknown}' is no argument of a revocation list`);
    const present = readEncoded(name, 'X509 CRL');
    const entries = (list: readonly { serial: bigint; reason?: number }[]): string[] =>
      list.map(({ serial, reason }) => `${serial.toString(16)}/${reason ?? ''}`).sort();
    const wanted = entries(revokedOf(revoked, include_expired));
    let wrong: PlainDict | undefined = present === undefined ? { created: name } : undefined;
    const isNumbered = extensions?.cRLNumber === 'auto';
    let number = 1n;
    let kept: Buffer | undefined;
    if (present !== undefined) {
      const old = tryRead(() => readRevocationList(present.pem));
      const parts = otherEncoding(present, how);
      if (!old) parts.replaced = 'it could not be read';
      else {
        const listed = entries(old.revoked);
        if (listed.join() !== wanted.join()) parts.revoked = { old: listed, new: wanted };
        const key = loadPrivateKey(signing_private_key, signing_private_key_passphrase);
        if (!isSignedBy(old, publicKeyOf(spkiOf(key))))
          parts.signing_private_key = { old: 'another', new: 'as given' };
        const hash = digestIn({ digest: digest || undefined }, key);
        Object.assign(parts, otherDigest(old.algorithm, hash));
        const before = crlNumber(old.extensions);
        if (before !== undefined) number = before + 1n;
        const wish = crlExtensions(extensions ?? {}, readCertificate(signing_cert), before ?? 0n);
        const others = otherExtensions(old.extensions, wish);
        if (others.length > 0) parts.extensions = others;
        if (days_remaining !== 0 && old.until <= addDays(new Date(), days_remaining))
          parts.expiration = {
            old: dateText(old.until),
            new: dateText(addDays(new Date(), days_valid)),
          };
      }
      if (Object.keys(parts).length > 0) wrong = parts;
      if (isWrongOnlyIn(parts, 'encoding')) kept = old?.der;
    }
    return keepPem(name, {
      what: 'The certificate revocation list',
      wrong,
      make: async () => {
        if (kept) return encodeOne('X509 CRL', kept, how);
        const pem: string = await salt('x509.create_crl')(null, {
          signing_private_key,
          signing_private_key_passphrase,
          signing_cert,
          revoked,
          include_expired,
          days_valid,
          digest,
          extensions: isNumbered ? { ...extensions, cRLNumber: String(number) } : extensions,
        });
        return encodeOne('X509 CRL', derOf(pem, 'X509 CRL'), how);
      },
      file,
    });
  });
