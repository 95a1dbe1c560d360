import { createHash, createHmac } from 'node:crypto';
import type { Data } from '../../data/values/value.ts';
import { type FilterTable, toFilterString } from './filter.ts';
import { requireString } from './python-text.ts';

const digest = (algorithm: string): FilterTable[string] => ({
  params: [],
  run: value => createHash(algorithm).update(requireString(value, algorithm)).digest('hex'),
});

/** Hashes and codes. */
export const hashFilters: FilterTable = {
  md5: digest('md5'),
  sha1: digest('sha1'),
  sha256: digest('sha256'),
  sha512: digest('sha512'),
  hmac: {
    params: ['shared_secret', 'challenge_hmac'],
    run: (value, secret, challenge) =>
      createHmac('sha256', toFilterString(secret))
        .update(toFilterString(value))
        .digest('base64') === toFilterString(challenge),
  },
  hmac_compute: {
    params: ['shared_secret'],
    run: (value, secret) =>
      createHmac('sha256', toFilterString(secret)).update(toFilterString(value)).digest('hex'),
  },
  base64_encode: {
    params: [],
    run: value => Buffer.from(requireString(value, 'base64_encode')).toString('base64'),
  },
  base64_decode: {
    params: [],
    run: value => readBase64(value).toString('utf8'),
  },
  uuid: { params: [], run: value => uuid5(requireString(value, 'uuid')) },
};

/** Salt's own namespace for `|uuid`. */
const saltSpace = '91633ebf1c865e33935a28061f4b480e';

const uuid5 = (name: string): string => {
  const hash = createHash('sha1').update(Buffer.from(saltSpace, 'hex')).update(name).digest();
  hash[6] = ((hash[6] ?? 0) & 0x0f) | 0x50;
  hash[8] = ((hash[8] ?? 0) & 0x3f) | 0x80;
  return hash.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
};

/**
 * Decodes base64; characters outside its alphabet are skipped, as in Python.
 *
 * @throws TypeError if its end is missing.
 */
export const readBase64 = (value: Data): Buffer => {
  const text = requireString(value, 'base64_decode').replace(/[^A-Za-z0-9+/=]/g, '');
  const [letters = ''] = text.split('=', 1);
  if ((letters.length + Math.min(2, text.length - letters.length)) % 4 !== 0)
    throw new TypeError('base64_decode: incorrect padding');
  return Buffer.from(letters, 'base64');
};
