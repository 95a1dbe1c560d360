import { expect, test } from 'vitest';
import { Turns } from '../../src/protocol/turns.ts';
import { CooperativeYield } from '../../src/render/cooperative-yield.ts';
import { cpuTime, longestTurn } from '../helpers/cpu-time.ts';

const compute = (milliseconds: number): void => {
  for (const end = cpuTime() + milliseconds; cpuTime() < end; );
};

const slice = 10;

const pauses: readonly (readonly [string, () => () => Promise<unknown> | undefined])[] = [
  [
    'rendering',
    () => {
      const turn = new CooperativeYield(0);
      return () => (turn.isDue() ? turn.take() : undefined);
    },
  ],
  [
    'reading messages',
    () => {
      const turns = new Turns(0);
      return () => turns.pause();
    },
  ],
];

test.each(pauses)(
  'other work does not wait for the sum of many computations: %s',
  async (_, make) => {
    const worker = async (): Promise<void> => {
      const pause = make();
      for (let rounds = 3; rounds > 0; rounds--) {
        await pause();
        compute(slice);
      }
    };
    const longest = await longestTurn(() => Promise.all(Array.from({ length: 30 }, worker)));
    expect(longest).toBeLessThan((30 * slice) / 2);
  },
);
