import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonical } from '../../../src/data/values/canonical.ts';
import { cloneData } from '../../../src/data/values/clone.ts';
import { joinLists, mergeAllByStrategy, mergeByStrategy } from '../../../src/data/values/merge.ts';
import { type Data, Float, toData, toDict, toPlain } from '../../../src/data/values/value.ts';
import type { PlainDict } from '../../../src/protocol/plain.ts';
import { growth } from '../../helpers/growth.ts';

const below = { a: { x: 1, list: [1] }, only: 1, list: [1, 2] };
const above = { a: { y: 2, list: [2] }, list: [2, 3], more: 1 };

const merged = (strategy: string, renderer = 'yaml', mergeLists = true) => {
  const [first, second] = [toDict(below), toDict(above)];
  const result = toPlain(mergeByStrategy(first, second, { strategy, renderer, mergeLists }));
  expect(toPlain(first)).toEqual(below);
  expect(toPlain(second)).toEqual(above);
  return result;
};

const strategies: [string, string, PlainDict][] = [
  ['recurse', 'yaml', { a: { x: 1, y: 2, list: [1, 2] }, only: 1, list: [1, 2, 3], more: 1 }],
  ['smart', 'jinja|yaml', { a: { x: 1, y: 2, list: [1, 2] }, only: 1, list: [1, 2, 3], more: 1 }],
  ['smart', 'jinja|yamlex', { a: { y: 2, list: [2] }, only: 1, list: [2, 3], more: 1 }],
  ['aggregate', 'yaml', { a: { y: 2, list: [2] }, only: 1, list: [2, 3], more: 1 }],
  ['overwrite', 'yaml', { a: { y: 2, list: [2] }, only: 1, list: [2, 3], more: 1 }],
  ['none', 'yaml', { a: { x: 1, y: 2, list: [2] }, only: 1, list: [2, 3], more: 1 }],
  ['list', 'yaml', { a: [below.a, above.a], only: 1, list: [below.list, above.list] }],
];

test.each(strategies)(
  '%s under %s merges as Salt does and changes neither',
  (strategy, renderer, result) => {
    expect(merged(strategy, renderer)).toEqual(result);
  },
);

test('lists are joined by what Python calls equal', () => {
  const items = (...data: Data[]): Data[] => data;
  expect(joinLists(items(1, 'a'), items(new Float(1), true, '1', 'a', 'b'))).toEqual([
    1,
    'a',
    '1',
    'b',
  ]);
  expect(canonical(toData({ a: 1, b: [2] }))).toBe(canonical(toData({ b: [2], a: 1 })));
});

const one = (values: fc.Arbitrary<Data>): fc.Arbitrary<Data> =>
  fc
    .array(fc.tuple(fc.constantFrom('a', 'b', 'c'), values), { maxLength: 3 })
    .map(pairs => new Map(pairs));
const scalar: fc.Arbitrary<Data> = fc.constantFrom<Data>(1, 2, 'x', null);
const lists = fc.array<Data>(fc.oneof(scalar, one(scalar)), { maxLength: 3 });
const dict = one(fc.oneof(scalar, lists, one(fc.oneof(scalar, lists))));

test('all of a list are merged as one after the other', () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof({ weight: 4, arbitrary: dict }, lists), { maxLength: 6 }),
      fc.constantFrom('smart', 'recurse', 'aggregate', 'overwrite', 'list', 'none'),
      fc.boolean(),
      fc.boolean(),
      (list, strategy, mergeLists, isShared) => {
        const options = { strategy, mergeLists };
        const given = isShared ? [...list, ...list] : list;
        const before = cloneData([...given]);
        const expected = given.reduce<Data>(
          (below, above) => mergeByStrategy(cloneData(below), above, options),
          new Map(),
        );
        expect(mergeAllByStrategy(given, options)).toEqual(expected);
        expect(given).toEqual(before);
      },
    ),
    { numRuns: 2000 },
  );
});

test.each([
  ['keys', (at: number) => ({ [`k${at}`]: at })],
  ['items of a list', (at: number) => ({ a: [at] })],
])('a list is merged in time that grows with its %s', async (_, item) => {
  const work = (count: number) => {
    const list = Array.from({ length: count }, (_, at) => toDict(item(at)));
    return async () => mergeAllByStrategy(list, { strategy: 'recurse', mergeLists: true });
  };
  expect(await growth(work, 8000, 100)).toBeUndefined();
});
