import { X509Certificate } from 'node:crypto';
import type { PlainDict } from '../../../api.ts';
import { addDays } from '../../desired-certificate.ts';
import { isSignedBy, readCertificate } from '../../x509-certificate.ts';
import { loadPrivateKey, loadPublicKey, spkiOf } from '../../x509-keys.ts';
import { readName } from '../../x509-names.ts';
import { readRevocationList } from '../../x509-requests.ts';

/** Whether a private key belongs to a public key or certificate. */
export const verify_private_key = async (
  private_key: string,
  public_key: string,
  passphrase: string | null = null,
): Promise<boolean> =>
  spkiOf(loadPrivateKey(private_key, passphrase)).equals(spkiOf(loadPublicKey(public_key)));

/**
 * Whether a certificate was signed by the key of another.
 *
 * @param certificate a PEM or a file
 * @param signing_pub_key the signer's certificate or key; its own key when left out
 */
export const verify_signature = async (
  certificate: string,
  signing_pub_key: string | null = null,
  { signing_pub_key_passphrase = null }: { signing_pub_key_passphrase?: string | null } = {},
): Promise<boolean> => {
  const read = readCertificate(certificate);
  const key =
    signing_pub_key === null
      ? new X509Certificate(read.der).publicKey
      : loadPublicKey(signing_pub_key, signing_pub_key_passphrase);
  return isSignedBy(read, key);
};

/** Whether a list of revoked certificates was signed by this CA. */
export const verify_crl = async (crl: string, cert: string): Promise<boolean> =>
  isSignedBy(readRevocationList(crl), loadPublicKey(cert));

/** Whether a certificate ends within so many days, or has ended. */
export const expires = async (certificate: string, days = 0): Promise<boolean> =>
  readCertificate(certificate).until <= addDays(new Date(), days);

/** Whether a certificate has ended; its subject comes along. */
export const expired = async (certificate: string): Promise<PlainDict> => {
  const { until, subject } = readCertificate(certificate);
  return { path: certificate, cn: readName(subject).CN ?? '', expired: until <= new Date() };
};

/** Whether a certificate ends within so many days; its subject comes along. */
export const will_expire = async (certificate: string, days: number): Promise<PlainDict> => {
  const { until, subject } = readCertificate(certificate);
  return {
    path: certificate,
    cn: readName(subject).CN ?? '',
    check_days: days,
    will_expire: until <= addDays(new Date(), days),
  };
};
