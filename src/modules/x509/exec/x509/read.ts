import { globPaths } from '../../../_shared/files/glob-paths.ts';
import type { PlainDict } from '../../../api.ts';
import { dateText } from '../../desired-certificate.ts';
import { colons, publicKeyOf, readCertificate } from '../../x509-certificate.ts';
import { keySizeOf, loadPrivateKey, loadPublicKey, pemOrFile } from '../../x509-keys.ts';
import { readName } from '../../x509-names.ts';
import { readRequest, readRevocationList, reasons } from '../../x509-requests.ts';
import { showCertificate, showExtensions } from '../../x509-show.ts';

/**
 * Returns the content of a certificate.
 *
 * @param certificate a PEM or a file
 * @example tsalt-ssh web1 x509.read_certificate /etc/pki/web.crt
 */
export const read_certificate = async (certificate: string): Promise<PlainDict> =>
  showCertificate(readCertificate(certificate));

/** Returns the content of all certificates whose files match a pattern, by path. */
export const read_certificates = async (glob_path: string): Promise<PlainDict> =>
  Object.fromEntries(
    globPaths(glob_path).flatMap(path => {
      try {
        return [[path, showCertificate(readCertificate(path))]];
      } catch {
        return [];
      }
    }),
  );

/** Returns the content of a certificate signing request: a PEM or a file. */
export const read_csr = async (csr: string): Promise<PlainDict> => {
  const request = readRequest(csr);
  const key = publicKeyOf(request.publicKey);
  return {
    Subject: readName(request.subject),
    'Public Key': key.export({ format: 'pem', type: 'spki' }).toString(),
    'Key Size': keySizeOf(key) ?? null,
    'X509v3 Extensions': showExtensions(request.extensions),
  };
};

/** Returns the content of a list of revoked certificates: a PEM or a file. */
export const read_crl = async (crl: string): Promise<PlainDict> => {
  const list = readRevocationList(crl);
  const names = Object.entries(reasons);
  return {
    Issuer: readName(list.issuer),
    'Last Update': dateText(list.from),
    'Next Update': dateText(list.until),
    'X509v3 Extensions': showExtensions(list.extensions),
    'Revoked Certificates': list.revoked.map(({ serial, date, reason }) => ({
      [colons(serial)]: {
        'Revocation Date': dateText(date),
        ...(reason === undefined
          ? {}
          : { Reason: names.find(([, number]) => number === reason)?.[0] ?? String(reason) }),
      },
    })),
  };
};

/**
 * The public key of a certificate, request, public or private key, as PEM.
 *
 * @param key a PEM or a file
 * @param passphrase passphrase of a private key
 */
export const get_public_key = async (
  key: string,
  passphrase: string | null = null,
): Promise<string> => {
  const text = pemOrFile(key);
  const isRequest = typeof text === 'string' && text.includes('CERTIFICATE REQUEST-----');
  const found = isRequest
    ? publicKeyOf(readRequest(key).publicKey)
    : loadPublicKey(key, passphrase);
  return found.export({ format: 'pem', type: 'spki' }).toString();
};

/** The bits of a private key. */
export const get_private_key_size = async (
  private_key: string,
  passphrase: string | null = null,
): Promise<number | null> => keySizeOf(loadPrivateKey(private_key, passphrase)) ?? null;
