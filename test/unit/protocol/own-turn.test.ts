import { expect, test } from 'vitest';
import { Turns } from '../../../src/protocol/turns.ts';
import { cpuTime, longestTurn } from '../../helpers/cpu-time.ts';

const compute = (milliseconds: number): void => {
  for (const end = cpuTime() + milliseconds; cpuTime() < end; );
};

const slice = 10;

test('other work does not wait for the sum of many computations', async () => {
  const worker = async (): Promise<void> => {
    const turns = new Turns(0);
    for (let rounds = 3; rounds > 0; rounds--) {
      await turns.pause();
      compute(slice);
    }
  };
  const longest = await longestTurn(() => Promise.all(Array.from({ length: 30 }, worker)));
  expect(longest).toBeLessThan((30 * slice) / 2);
});
