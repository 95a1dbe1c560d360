import { join } from 'node:path';
import { expect, test } from 'vitest';
import { replayAll } from './replay-all.ts';

const root = process.getuid?.() === 0;

test.skipIf(!root)(
  'every golden case of Salt gives the same answer, or a listed one (needs root: cases use runas)',
  async () => {
    const outcomes = await replayAll(join(import.meta.dirname, 'cases'));

    expect(outcomes.length).toBeGreaterThan(200);
    expect(
      outcomes
        .filter(({ status }) => status === 'failed')
        .map(({ id, note, differences }) => ({ id, note, differences })),
    ).toEqual([]);
  },
  300_000,
);
