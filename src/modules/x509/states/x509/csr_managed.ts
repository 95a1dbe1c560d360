import type { PlainDict, StateReturn } from '../../../api.ts';
import { checkKeywords, digestIn } from '../../desired-certificate.ts';
import {
  different,
  failOrForesee,
  isWrongOnlyIn,
  otherEncoding,
  tryRead,
} from '../../x509-compare.ts';
import { checkEncoding, encodeOne, readEncoded } from '../../x509-encodings.ts';
import { extensionsOf } from '../../x509-extensions.ts';
import { keepPem, splitFileArguments } from '../../x509-file.ts';
import { loadPrivateKey, spkiOf } from '../../x509-keys.ts';
import { subjectOf } from '../../x509-names.ts';
import { buildRequest, readRequest } from '../../x509-requests.ts';

/**
 * A certificate signing request is there, of this key and with these words. For another encoding
 * the existing request is written again.
 *
 * @param name the file
 * @param private_key the key that asks: a PEM or a file
 * @param private_key_passphrase of that key
 * @param digest sha256 …; `algorithm` is its older name
 * @param encoding pem or der
 * @param keywords parts of the subject (`CN`, `O` …), extensions (`subjectAltName` …), and
 *   `user`, `group`, `mode`, `makedirs`, `dir_mode`, `backup` of the file
 * @example
 * /etc/pki/web.csr:
 *   x509.csr_managed:
 *     - private_key: /etc/pki/web.key
 *     - CN: www.example.com
 *     - subjectAltName: 'DNS:www.example.com, DNS:example.com'
 */
export const csr_managed = async (
  name: string,
  {
    private_key,
    private_key_passphrase = null,
    digest = 'sha256',
    encoding = 'pem',
    ...keywords
  }: {
    private_key: string;
    private_key_passphrase?: string | null;
    digest?: string;
    encoding?: string;
    [keyword: string]: unknown;
  },
): Promise<StateReturn> =>
  failOrForesee(name, async () => {
    const how = checkEncoding(encoding, 'pem', 'der');
    const { file, rest } = splitFileArguments(keywords);
    const { algorithm = digest } = rest;
    checkKeywords(rest);
    const key = loadPrivateKey(private_key, private_key_passphrase);
    const hash = digestIn({ digest: algorithm }, key);
    const wish = {
      subject: subjectOf(rest),
      publicKey: spkiOf(key),
      extensions: extensionsOf(rest, { publicKey: spkiOf(key) }),
    };
    const present = readEncoded(name, 'CERTIFICATE REQUEST');
    let wrong: PlainDict | undefined = present === undefined ? { created: name } : undefined;
    let kept: Buffer | undefined;
    if (present !== undefined) {
      const old = tryRead(() => readRequest(present.pem));
      const parts = { ...different(old, wish, hash), ...otherEncoding(present, how) };
      if (Object.keys(parts).length > 0) wrong = parts;
      if (isWrongOnlyIn(parts, 'encoding')) kept = old?.der;
    }
    return keepPem(name, {
      what: 'The certificate signing request',
      wrong,
      make: async () => {
        const der = kept ?? buildRequest(wish.subject, wish.extensions, key, hash);
        return encodeOne('CERTIFICATE REQUEST', der, how);
      },
      file,
    });
  });
