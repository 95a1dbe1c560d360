import { expect, test } from 'vitest';
import type { Plain } from '../../src/protocol/plain.ts';
import { prefetchKey, sortedJson, withSortedKeys } from '../../src/protocol/prefetch.ts';

test.each<[string, Plain]>([
  ['dictionaries in lists in dictionaries', { b: [{ d: 1, c: [] }, 'x'], a: { z: null, y: true } }],
  ['texts with quotes, line ends and lone surrogates', { 'a"b': 'c\n"d"\\', e: '\ud800é' }],
  ['numbers', { a: 1.5, b: -0, c: 1e21, d: [] }],
  ['an empty dictionary', {}],
])('sortedJson writes %s as JSON.stringify does, with sorted keys', (_, value) => {
  expect(sortedJson(value)).toBe(JSON.stringify(withSortedKeys(value)));
});

test('prefetchKey is the same whatever the order of the keys, and differs for other values', () => {
  const request = { source: 'salt://a', saltenv: 'base', template: 'jinja', chunk: { name: '/a' } };
  const one = prefetchKey({ ...request, context: { a: 1, b: { c: 2, d: 3 } } });
  expect(prefetchKey({ context: { b: { d: 3, c: 2 }, a: 1 }, ...request })).toBe(one);
  expect(prefetchKey({ ...request, context: { a: 1, b: { c: 2, d: '3' } } })).not.toBe(one);
});
