import { createHash } from 'node:crypto';
import { PythonRandom } from '../../data/python/python-random.ts';
import type { Data } from '../../data/values/value.ts';
import { randomBytes, randomInt } from '../nondeterminism.ts';
import { type FilterTable, listOf, toFilterString } from './filter.ts';
import { scalarText } from './python-text.ts';

const longestRandom = 1_000_000;

/** Random filters; with a seed they choose the same as Salt. */
export const randomFilters: FilterTable = {
  random_str: {
    params: [],
    run: value => {
      const size = Math.min(Number(value), longestRandom);
      if (!(size >= 0)) throw new TypeError(`random_str takes a length, not ${scalarText(value)}`);
      return randomBytes(size).toString('base64').slice(0, size);
    },
  },
  gen_mac: {
    params: [],
    run: prefix =>
      [toFilterString(prefix), ...Array.from(randomBytes(3), byte => hexByte(byte))].join(':'),
  },
  random_hash: { params: ['hash_type?'], run: randomHash },
  rand_str: { params: ['hash_type?'], run: randomHash },
  random_sample: {
    params: ['size', 'seed?'],
    run: (value, size, seed) => draw(listOf(value, 'random_sample'), Number(size), seed),
  },
  random_shuffle: {
    params: ['seed?'],
    run: (value, seed) => {
      const list = listOf(value, 'random_shuffle');
      return draw(list, list.length, seed);
    },
  },
};

const hexByte = (byte: number): string => byte.toString(16).padStart(2, '0').toUpperCase();

function randomHash(value: Data, type: Data | undefined): Data {
  if (typeof value !== 'number' || value < 0)
    throw new TypeError(`random_hash takes a number, not ${scalarText(value)}`);
  return createHash(toFilterString(type) || 'md5')
    .update(String(randomInt(Math.min(Math.trunc(value) + 1, 2 ** 47))))
    .digest('hex');
}

/** Returns `count` items in random order; with a seed, the same items as Salt. */
const draw = (list: readonly Data[], count: number, seed: Data | undefined): Data[] => {
  if (!(count >= 0 && count <= list.length))
    throw new TypeError('the sample is larger than the list, or negative');
  if (seed !== undefined && seed !== null)
    return seededRandom(toFilterString(seed)).sample(list, count);
  return list
    .map(item => ({ item, order: randomInt(2 ** 47) }))
    .sort((a, b) => a.order - b.order)
    .slice(0, count)
    .map(({ item }) => item);
};

/** Salt seeds with the SHA-512 of the seed as a string; Python appends that string's own hash. */
const seededRandom = (seed: string): PythonRandom => {
  const text = createHash('sha512').update(seed).digest('hex');
  const hash = createHash('sha512').update(text).digest();
  return new PythonRandom(Buffer.concat([Buffer.from(text), hash]));
};
