import { expect, test } from 'vitest';
import { getOwn, isPlainDict, type PlainDict, plainText } from '../../../src/protocol/plain.ts';
import { mergeWholeFloats } from '../../../src/protocol/whole-floats.ts';

const parse = (text: string): PlainDict => JSON.parse(text) as PlainDict;

test.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])(
  'getOwn: finds %s only where the table holds it',
  name => {
    expect(getOwn({}, name)).toBeUndefined();
    expect(getOwn(parse(`{"${name}": 1}`), name)).toBe(1);
  },
);

test('mergeDicts: a key __proto__ is a key', () => {
  const merged = mergeWholeFloats(parse('{"__proto__": {"a": 1}, "b": 2}'), { c: 3 });
  expect(isPlainDict(merged)).toBe(true);
  expect(JSON.stringify(merged)).toBe('{"__proto__":{"a":1},"b":2,"c":3}');
  expect(merged.a).toBeUndefined();
});

test('plainText: a dict with a key toString is text', () => {
  expect(plainText({ toString: 1 })).toBe('{"toString":1}');
  expect([1, null, 'a', [2]].map(plainText)).toEqual(['1', 'null', 'a', '[2]']);
});
