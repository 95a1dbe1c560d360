import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type MatchingBlock,
  matchingBlocks,
} from '../../../src/modules/_shared/text/sequence-matcher.ts';
import { cpuTime } from '../../helpers/cpu-time.ts';

/** The rule of difflib, tried out: of the longest equal runs the first in `a`, of those the first in `b`. */
const blocksBetween = (a: string[], b: string[], i0 = 0, j0 = 0): MatchingBlock[] => {
  let [besti, bestj, size] = [0, 0, 0];
  for (let i = 0; i < a.length; i++)
    for (let j = 0; j < b.length; j++) {
      let k = 0;
      while (i + k < a.length && j + k < b.length && a[i + k] === b[j + k]) k++;
      if (k > size) [besti, bestj, size] = [i, j, k];
    }
  if (size === 0) return [];
  const [i, j] = [besti + size, bestj + size];
  return [
    ...blocksBetween(a.slice(0, besti), b.slice(0, bestj), i0, j0),
    [i0 + besti, j0 + bestj, size],
    ...blocksBetween(a.slice(i), b.slice(j), i0 + i, j0 + j),
  ];
};

const adjacent = ([i, j, size]: MatchingBlock, [i2, j2]: MatchingBlock): boolean =>
  i + size === i2 && j + size === j2;

const joined = (blocks: MatchingBlock[]): MatchingBlock[] => {
  const all: MatchingBlock[] = [];
  for (const block of blocks) {
    const last = all.at(-1);
    if (last && adjacent(last, block)) all[all.length - 1] = [last[0], last[1], last[2] + block[2]];
    else all.push(block);
  }
  return all;
};

test('blocks are those of difflib', () => {
  const lines = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 14 });
  const isSame = (a: string[], b: string[]): void => {
    expect(matchingBlocks(a, b)).toEqual([...joined(blocksBetween(a, b)), [a.length, b.length, 0]]);
  };
  fc.assert(fc.property(lines, lines, isSame), { numRuns: 3000 });
});

test('a change in each record of a large file takes no time that grows with its square', () => {
  const file = (records: number, version: string): string[] =>
    Array.from({ length: records }, (_, i) => [
      `[${i}]`,
      `name = n${i}`,
      `version = ${version}${i}`,
    ]).flat();
  const cpu = (records: number): number => {
    const begin = cpuTime();
    expect(matchingBlocks(file(records, '1.'), file(records, '2.'))).toHaveLength(records + 1);
    return cpuTime() - begin;
  };
  cpu(2000);
  expect(cpu(64_000) / cpu(4000)).toBeLessThan(100);
});
