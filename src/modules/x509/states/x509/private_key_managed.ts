import type { KeyObject } from 'node:crypto';
import { failed } from '../../../_shared/states/returns.ts';
import { type PlainDict, SaltInvocationError, type StateReturn } from '../../../api.ts';
import { failOrForesee, isWrongOnlyIn, otherEncoding } from '../../x509-compare.ts';
import { checkEncoding, type Encoded, encodeKey, readEncoded } from '../../x509-encodings.ts';
import { keepPem, splitFileArguments } from '../../x509-file.ts';
import { algorithmOf, keySizeOf, loadPrivateKey, newPrivateKey } from '../../x509-keys.ts';

/**
 * A private key is there, of this algorithm and size. A key that fits is never replaced: for another
 * encoding, or a passphrase where it has none, the same key is written again.
 *
 * @param name the file; its mode is 0400 unless `mode` says otherwise
 * @param algo rsa, ec, ed25519 or ed448
 * @param keysize bits: 2048 for rsa, 256, 384 or 521 for ec
 * @param bits the older name of `keysize`
 * @param passphrase encrypts it
 * @param encoding pem, der or pkcs12
 * @param pkcs12_encryption_compat encrypt a pkcs12 file by triple DES and SHA 1, for programs that know nothing better
 * @param new make a new key in every run
 * @param overwrite also replace a file that holds no key, or one under another passphrase
 * @param keywords `user`, `group`, `mode`, `makedirs`, `dir_mode`, `backup` of the file
 * @example
 * /etc/pki/web.key:
 *   x509.private_key_managed:
 *     - algo: ec
 *     - makedirs: true
 */
export const private_key_managed = async (
  name: string,
  {
    algo = 'rsa',
    keysize = null,
    bits = null,
    passphrase = null,
    encoding = 'pem',
    pkcs12_encryption_compat = false,
    new: always = false,
    overwrite = false,
    ...keywords
  }: {
    algo?: string;
    keysize?: number | null;
    bits?: number | null;
    passphrase?: string | null;
    encoding?: string;
    pkcs12_encryption_compat?: boolean;
    new?: boolean;
    overwrite?: boolean;
    [keyword: string]: unknown;
  } = {},
): Promise<StateReturn> =>
  // biome-ignore lint/complexity/noExcessiveCognitiveComplexity: the steps of Salt's x509.private_key_managed, in its order
  failOrForesee(name, async () => {
    const how = checkEncoding(encoding, 'pem', 'der', 'pkcs12');
    const { file, rest } = splitFileArguments(keywords);
    const unknown = Object.keys(rest).find(key => !['cipher', 'verbose', 'text'].includes(key));
    if (unknown !== undefined)
      throw new SaltInvocationError(`'${unknown}' is no argument of a private key`);
    const size = keysize ?? bits ?? { rsa: 2048, ec: 256 }[algo];
    const present = readEncoded(name, 'PRIVATE KEY', passphrase);
    let wrong: PlainDict | undefined;
    let kept: KeyObject | undefined;
    if (present === undefined) wrong = { created: name };
    else if (always) wrong = { replaced: name };
    else {
      const found = tryKey(present, passphrase);
      if (!found && !overwrite)
        return failed(
          name,
          `The file ${name} holds no private key that can be read: the passphrase is another, or it is no key. overwrite: true replaces it.`,
        );
      if (!found) wrong = { replaced: name };
      else {
        const parts = otherEncoding(present, how);
        const [oldAlgo, oldSize] = [algorithmOf(found), keySizeOf(found)];
        if (oldAlgo !== algo) parts.algo = { old: oldAlgo, new: algo };
        else if (size !== undefined && oldSize !== size)
          parts.keysize = { old: oldSize ?? null, new: size };
        if (passphrase !== null && !isUnderPassphrase(present))
          parts.passphrase = { old: 'none', new: 'set' };
        if (Object.keys(parts).length > 0) wrong = parts;
        if (isWrongOnlyIn(parts, 'encoding', 'passphrase')) kept = found;
      }
    }
    return keepPem(name, {
      what: 'The private key',
      wrong,
      make: async () => {
        const key = kept ?? newPrivateKey(algo, size);
        return encodeKey(key, how, { passphrase, compat: pkcs12_encryption_compat });
      },
      file: { ...file, mode: file.mode || '0400' },
    });
  });

const tryKey = ({ pem, key }: Encoded, passphrase: string | null): KeyObject | undefined => {
  if (key) return key;
  try {
    return loadPrivateKey(pem, pem.includes('ENCRYPTED') ? passphrase : null);
  } catch {
    return undefined;
  }
};

const isUnderPassphrase = ({ pem, isLocked = pem.includes('ENCRYPTED') }: Encoded): boolean =>
  isLocked;
