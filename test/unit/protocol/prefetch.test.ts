import { expect, test } from 'vitest';
import type { Plain } from '../../../src/protocol/plain.ts';
import {
  prefetchKey,
  readPrefetchKey,
  renderRequest,
  sortedJson,
  withSortedKeys,
} from '../../../src/protocol/prefetch.ts';

test.each<[string, Plain, string]>([
  [
    'dictionaries in lists in dictionaries',
    { b: [{ d: 1, c: [] }, 'x'], a: { z: null, y: true } },
    '{"a":{"y":true,"z":null},"b":[{"c":[],"d":1},"x"]}',
  ],
  [
    'texts with quotes, line ends and lone surrogates',
    { 'a"b': 'c\n"d"\\', e: '\ud800é' },
    '{"a\\"b":"c\\n\\"d\\"\\\\","e":"\\ud800é"}',
  ],
  ['numbers', { b: -0, a: 1.5, d: [], c: 1e21 }, '{"a":1.5,"b":0,"c":1e+21,"d":[]}'],
  ['an empty dictionary', {}, '{}'],
  [
    'a key that JavaScript gives a meaning',
    JSON.parse('{"a":[{"b":1,"__proto__":2}]}'),
    '{"a":[{"__proto__":2,"b":1}]}',
  ],
])('sortedJson writes %s with sorted keys', (_, value, json) => {
  expect(sortedJson(value)).toBe(json);
});

test('withSortedKeys copies only what is not in order', () => {
  const inOrder: Plain = [{ a: [{ b: 1, c: 2 }], d: null }];
  expect(withSortedKeys(inOrder)).toBe(inOrder);
  const value: Plain = [{ a: [{ c: 2, b: 1 }] }];
  expect(withSortedKeys(value)).not.toBe(value);
  expect(JSON.stringify(value)).toBe('[{"a":[{"c":2,"b":1}]}]');
});

test('prefetchKey is the same whatever the order of the keys, and differs for other values', () => {
  const request = { source: 'salt://a', saltenv: 'base', template: 'jinja', chunk: { name: '/a' } };
  const one = prefetchKey({ ...request, context: { a: 1, b: { c: 2, d: 3 } } });
  expect(prefetchKey({ context: { b: { d: 3, c: 2 }, a: 1 }, ...request })).toBe(one);
  expect(prefetchKey({ ...request, context: { a: 1, b: { c: 2, d: '3' } } })).not.toBe(one);
});

const whole = {
  name: '/a',
  source: 'salt://a',
  template: 'jinja',
  context: { a: 1 },
  defaults: { b: 1 },
  user: 'root',
  group: 'root',
  mode: '0644',
  attrs: 'i',
  text: 'a',
};

test('prefetchKey differs for each argument that a template can read', () => {
  const key = prefetchKey(renderRequest(whole, 'base'));
  const others = [
    ...Object.keys(whole).map(name => {
      const other = name === 'context' || name === 'defaults' ? { c: 1 } : 'x';
      return renderRequest({ ...whole, [name]: other }, 'base');
    }),
    renderRequest(whole, 'dev'),
    renderRequest({ ...whole, user: 'root', group: undefined }, 'base'),
    renderRequest({ ...whole, user: undefined, group: 'root' }, 'base'),
    renderRequest({ ...whole, text: undefined }, 'base'),
  ].map(prefetchKey);

  expect(new Set([key, ...others]).size).toBe(others.length + 1);
  expect(prefetchKey({ ...renderRequest(whole, 'base'), have: 'abc' })).toBe(key);
  expect(readPrefetchKey(key)).toEqual({ name: '/a', source: 'salt://a' });
});
