import { expect, test } from 'vitest';
import type { RunEvent } from '../../../src/protocol/event.ts';
import type { JobLoad, Returner } from '../../../src/returners/returner.ts';
import { Returners } from '../../../src/returners/returners.ts';

const load: JobLoad = {
  jid: '20260101000000000000',
  fun: 'test.ping',
  arg: [],
  tgt: '*',
  tgt_type: 'glob',
  user: 'me',
};

const runWith = async (
  refuses: (ids: readonly string[]) => boolean,
  ids: readonly string[],
): Promise<{ written: string[]; warnings: string[]; writes: number }> => {
  const written: string[] = [];
  const warnings: string[] = [];
  let writes = 0;
  const returner: Returner = {
    name: 'store',
    write: async returns => {
      writes += 1;
      const some = returns.map(({ id }) => id);
      if (refuses(some)) throw new Error('too large');
      written.push(...some);
    },
  };
  const returners = new Returners([returner], message => warnings.push(message));
  returners.begin(load);
  for (const id of ids) {
    const result = { id, fun: 'test.ping', retcode: 0, value: true };
    returners.follow({ type: 'host', result } as RunEvent, () => true);
  }
  await returners.end();
  return { written, warnings, writes };
};

test('a return that is refused does not take those of other hosts with it', async () => {
  for (const ids of [['bad'], ['bad', 'web1', 'web2'], ['web1', 'bad', 'web2']])
    expect(await runWith(some => some.includes('bad'), ids)).toMatchObject({
      written: ids.filter(id => id !== 'bad'),
      warnings: [
        'The returner store failed: too large',
        'The returner store did not get the returns of 1 host.',
      ],
    });
});

test('a returner that takes nothing is given up after two returns', async () => {
  const ids = Array.from({ length: 50 }, (_, at) => `web${at}`);
  const { written, warnings, writes } = await runWith(() => true, ids);
  expect(written).toEqual([]);
  expect(writes).toBe(3);
  expect(warnings).toEqual([
    'The returner store failed: too large',
    'The returner store did not get the returns of 50 hosts.',
  ]);
});
