import { createHash, createHmac, randomInt } from 'node:crypto';
import type { Data } from '../../data/value.ts';
import { type FilterTable, listOf, textOf } from './filter.ts';

const digest =
  (algorithm: string) =>
  (value: Data): Data =>
    createHash(algorithm).update(textOf(value)).digest('hex');

/** Hashes, codes and chance. */
export const hashFilters: FilterTable = {
  md5: { params: [], run: digest('md5') },
  sha1: { params: [], run: digest('sha1') },
  sha256: { params: [], run: digest('sha256') },
  sha512: { params: [], run: digest('sha512') },
  hmac: {
    params: ['shared_secret', 'challenge_hmac'],
    run: (value, secret, challenge) =>
      createHmac('sha256', textOf(secret)).update(textOf(value)).digest('base64') ===
      textOf(challenge),
  },
  hmac_compute: {
    params: ['shared_secret'],
    run: (value, secret) =>
      createHmac('sha256', textOf(secret)).update(textOf(value)).digest('hex'),
  },
  base64_encode: { params: [], run: value => Buffer.from(textOf(value)).toString('base64') },
  base64_decode: {
    params: [],
    run: value => Buffer.from(textOf(value), 'base64').toString('utf8'),
  },
  uuid: { params: [], run: value => uuid5(textOf(value)) },
  random_hash: {
    params: ['hash_type'],
    run: (value, type = 'md5') =>
      createHash(textOf(type))
        .update(String(randomInt(Math.min(Number(value) || 1, 2 ** 47))))
        .digest('hex'),
  },
  rand_str: {
    params: ['hash_type'],
    run: (value, type = 'md5') =>
      createHash(textOf(type))
        .update(String(randomInt(Math.min(Number(value) || 1, 2 ** 47))))
        .digest('hex'),
  },
  random_sample: {
    params: ['size', 'seed'],
    run: (value, size, seed) =>
      shuffle(listOf(value, 'random_sample'), seed).slice(0, Number(size)),
  },
  random_shuffle: {
    params: ['seed'],
    run: (value, seed) => shuffle(listOf(value, 'random_shuffle'), seed),
  },
};

/** Salt's own name space for `|uuid`. */
const saltSpace = '91633ebf1c865e33935a28061f4b480e';

const uuid5 = (name: string): string => {
  const hash = createHash('sha1').update(Buffer.from(saltSpace, 'hex')).update(name).digest();
  hash[6] = ((hash[6] ?? 0) & 0x0f) | 0x50;
  hash[8] = ((hash[8] ?? 0) & 0x3f) | 0x80;
  return hash.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
};

/** In an order that is the same for the same seed; not the order that Python would choose. */
const shuffle = (list: readonly Data[], seed: Data | undefined): Data[] => {
  if (seed === undefined || seed === null) {
    return list
      .map(item => ({ item, order: randomInt(2 ** 47) }))
      .sort((a, b) => a.order - b.order)
      .map(({ item }) => item);
  }
  return list
    .map((item, index) => ({
      item,
      order: createHash('sha1')
        .update(`${textOf(seed)}:${index}`)
        .digest('hex'),
    }))
    .sort((a, b) => (a.order < b.order ? -1 : 1))
    .map(({ item }) => item);
};
