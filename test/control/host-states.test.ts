import { expect, onTestFinished, test } from 'vitest';
import type { RunParams, RunResult } from '../../src/protocol/job.ts';
import { makeSite } from '../wrapper/site.ts';

const restart = { tag: 'a', boot: 'b', delay: 0, wait: 1, kept: {} };

test.each([
  [undefined, '', false],
  [undefined, 'state_queue: true\n', true],
  [undefined, 'state_queue: 3\n', 3],
  [false, 'state_queue: true\n', false],
  [2, '', 2],
])('queue=%j with the option %j waits as Salt does: %j', async (queue, text, wanted) => {
  const asked: RunParams[] = [];
  const request = async (_method: string, params: unknown): Promise<never> => {
    asked.push(params as RunParams);
    return { retcode: 0 } as never;
  };
  const files = { 'tsalt.yaml': text, 'states/a.sls': 'a:\n  test.nop: []\n' };
  const { site, close } = await makeSite(files, { peer: { request } });
  onTestFinished(close);
  const given = queue === undefined ? new Map() : new Map([['queue', queue]]);
  await site.calls.call('state.apply', ['a'], given as never);
  expect(asked.map(params => params.queue)).toEqual([wanted]);
});

test('after a restart the run waits for another one that has begun meanwhile', async () => {
  const asked: RunParams[] = [];
  const request = async (_method: string, params: unknown): Promise<never> => {
    asked.push(params as RunParams);
    const answer: RunResult = asked.length === 1 ? { retcode: 0, restart } : { retcode: 2 };
    return answer as never;
  };
  const { site, close } = await makeSite({}, { peer: { request } });
  onTestFinished(close);

  const outcome = await site.states.run([], { pillar: new Map(), test: false, saltenv: 'base' });

  expect(outcome.retcode).toBe(2);
  expect(asked.map(({ queue, resume }) => [queue, resume?.restart.tag])).toEqual([
    [false, undefined],
    [true, 'a'],
  ]);
});
