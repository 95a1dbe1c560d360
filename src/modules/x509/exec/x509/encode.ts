import { SaltInvocationError } from '../../../api.ts';
import { derOf } from '../../pem.ts';
import { readCertificate } from '../../x509-certificate.ts';
import {
  type CertificateOptions,
  certificateEncodings,
  certificateFile,
  checkEncoding,
  encodeCertificates,
  encodedResult,
  encodeKey,
  encodeOne,
} from '../../x509-encodings.ts';
import { loadPrivateKey } from '../../x509-keys.ts';

/**
 * Returns a certificate in another encoding; encodings other than PEM are returned as base64.
 *
 * @param certificate a PEM or a file
 * @param encoding pem, der, pkcs7_pem, pkcs7_der or pkcs12
 * @param append_certs certificates that follow it: PEMs or files
 * @param private_key its key, for pkcs12
 * @param private_key_passphrase of that key
 * @param pkcs12_passphrase encrypts a pkcs12 file
 * @param pkcs12_encryption_compat encrypts it by triple DES and SHA 1, for programs that know nothing better
 * @param pkcs12_friendlyname the certificate's name in a pkcs12 file
 * @param raw taken, and of no effect: an answer is text
 * @example tsalt-ssh web1 x509.encode_certificate /etc/pki/my.crt encoding=der
 */
export const encode_certificate = async (
  certificate: string,
  encoding = 'pem',
  append_certs: string | string[] | null = null,
  private_key: string | null = null,
  private_key_passphrase: string | null = null,
  pkcs12_passphrase: string | null = null,
  pkcs12_encryption_compat = false,
  pkcs12_friendlyname: string | null = null,
  { raw: _ = false }: { raw?: boolean } = {},
): Promise<string> => {
  const how = checkEncoding(encoding, ...certificateEncodings);
  if (private_key !== null && how !== 'pkcs12')
    throw new SaltInvocationError('Embedding private keys is only supported for pkcs12 encoding');
  const key =
    private_key === null ? undefined : loadPrivateKey(private_key, private_key_passphrase);
  const options: CertificateOptions = {
    pkcs12_passphrase,
    pkcs12_encryption_compat,
    pkcs12_friendlyname,
  };
  const { der } = readCertificate(certificate);
  const file = certificateFile(der, [append_certs ?? []].flat(), key, options);
  return encodedResult(encodeCertificates(file, how), how);
};

const encodeNamed = (given: string, encoding: string, ...labels: [string, ...string[]]): string => {
  const how = checkEncoding(encoding, 'pem', 'der');
  return encodedResult(encodeOne(labels[0], derOf(given, ...labels), how), how);
};

/**
 * A list of revoked certificates in another encoding; der comes as base64.
 *
 * @param crl a PEM or a file
 * @param encoding pem or der
 * @param raw taken, and of no effect: an answer is text
 * @example tsalt-ssh ca x509.encode_crl /etc/pki/ca.crl encoding=der
 */
export const encode_crl = async (
  crl: string,
  encoding = 'pem',
  { raw: _ = false }: { raw?: boolean } = {},
): Promise<string> => encodeNamed(crl, encoding, 'X509 CRL');

/**
 * A certificate signing request in another encoding; der comes as base64.
 *
 * @param csr a PEM or a file
 * @param encoding pem or der
 * @param raw taken, and of no effect: an answer is text
 * @example tsalt-ssh web1 x509.encode_csr /etc/pki/web.csr encoding=der
 */
export const encode_csr = async (
  csr: string,
  encoding = 'pem',
  { raw: _ = false }: { raw?: boolean } = {},
): Promise<string> => encodeNamed(csr, encoding, 'CERTIFICATE REQUEST', 'NEW CERTIFICATE REQUEST');

/**
 * Returns a private key in another encoding; encodings other than PEM are returned as base64.
 *
 * @param private_key a PEM or a file
 * @param encoding pem, der or pkcs12
 * @param passphrase encrypts the result
 * @param private_key_passphrase passphrase of the given key
 * @param pkcs12_encryption_compat encrypts pkcs12 by triple DES and SHA 1, for programs that know nothing better
 * @param raw taken, and of no effect: an answer is text
 * @example tsalt-ssh web1 x509.encode_private_key /etc/pki/web.key encoding=der
 */
export const encode_private_key = async (
  private_key: string,
  encoding = 'pem',
  passphrase: string | null = null,
  private_key_passphrase: string | null = null,
  pkcs12_encryption_compat = false,
  { raw: _ = false }: { raw?: boolean } = {},
): Promise<string> => {
  const how = checkEncoding(encoding, 'pem', 'der', 'pkcs12');
  const key = loadPrivateKey(private_key, private_key_passphrase);
  return encodedResult(encodeKey(key, how, { passphrase, compat: pkcs12_encryption_compat }), how);
};
