import { expect, test } from 'vitest';
import { canonical } from '../../src/data/canonical.ts';
import { joinLists, mergeByStrategy } from '../../src/data/merge.ts';
import { type Data, Float, toData, toDict, toPlain } from '../../src/data/value.ts';
import type { PlainDict } from '../../src/protocol/plain.ts';

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
