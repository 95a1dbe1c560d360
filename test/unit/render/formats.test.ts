import { expect, test } from 'vitest';
import type { Dict } from '../../../src/data/values/value.ts';
import { Float } from '../../../src/data/values/value.ts';
import { site } from '../../render/site.ts';

test('JSON keeps floats, large ints and the order of keys', async () => {
  const { raw } = site();
  const data = (await raw(
    '#!json\n{"b": 1.0, "2": 12345678901234567890, "1": [NaN, "\\u00e9"]}',
  )) as Dict;
  expect([...data.keys()]).toEqual(['b', '2', '1']);
  expect(data.get('b')).toEqual(new Float(1));
  expect(data.get('2')).toBe(12345678901234567890n);
  expect(data.get('1')).toEqual([new Float(Number.NaN), 'é']);
});

test('JSON5 has comments, TOML its types, text stays text', async () => {
  const { raw, data } = site();
  expect(await data('#!json5\n{a: 1, // one\n}')).toEqual({ a: 1 });
  expect(
    await raw('#!toml\na = 1.0\nb = 9007199254740993\nc = 2020-01-01\n[d.e]\nf = [1, 2]\n'),
  ).toEqual(
    new Map<string, unknown>([
      ['a', new Float(1)],
      ['b', 9007199254740993n],
      ['c', '2020-01-01'],
      ['d', new Map([['e', new Map([['f', [1, 2]]])]])],
    ]),
  );
  expect(await data('#!text\na: 1\n')).toBe('a: 1\n');
});

test('YAMLEX joins what is marked and replaces the rest', async () => {
  const { data } = site();
  expect(await data('#!yamlex\np: !aggregate foo\np: !aggregate bar\np: !aggregate bar\n')).toEqual(
    { p: ['foo', 'bar'] },
  );
  expect(
    await data(
      '#!yamlex\np: {!aggregate foo: {foo: 42}}\np: {!aggregate foo: {bar: null}}\n!reset p: {!aggregate foo: {baz: inga}}\n',
    ),
  ).toEqual({ p: { foo: { baz: 'inga' } } });
  expect(await data('#!yamlex\na: 1\na: 2\nm: !aggregate {x: 1}\nm: !aggregate {y: 2}\n')).toEqual({
    a: 2,
    m: { x: 1, y: 2 },
  });
});

test.each([
  [
    '#!json\n{"a": 1,, "b": 2}',
    'JSON: Expecting property name enclosed in double quotes (web/init.sls:2:9)',
  ],
  ['#!json\n{"a": 1', "JSON: Expecting ',' delimiter (web/init.sls:2:8)"],
  ['#!json\n{"a": 1} x', 'JSON: Extra data (web/init.sls:2:10)'],
  ['#!json5\n{a: }', '(web/init.sls:2:5)\n---\n#!json5\n{a: }    <======================'],
  ['#!toml\na = \n', 'Invalid TOML document: invalid value (web/init.sls:2:5)'],
  [
    '#!yaml\na: 1\na: 2\n',
    "found conflicting ID 'a': it is on line 2 and again on line 3 (web/init.sls:3:1)",
  ],
])('%j fails with: %s', async (text, expected) => {
  expect(await site().failure(text)).toContain(expected);
});
