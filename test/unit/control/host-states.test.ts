import { expect, onTestFinished, test } from 'vitest';
import type { RunParams, RunResult } from '../../../src/protocol/job.ts';
import type { LowChunk } from '../../../src/protocol/low.ts';
import { growth } from '../../helpers/growth.ts';
import { makeSite } from '../../wrapper/site.ts';

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

/** Runs states of these names, all of which have begun on the host. */
const running = async (names: readonly string[], more: Partial<LowChunk> = {}) => {
  const request = async (): Promise<never> => ({ retcode: 0 }) as never;
  const { site, close } = await makeSite({}, { peer: { request } });
  onTestFinished(close);
  const chunks = names.map((name, order) => {
    const low = { state: 'test', fun: 'nop', name, __id__: name, __sls__: 'a', __env__: 'base' };
    return { ...low, order, ...(name === 'secret' ? more : {}) } as LowChunk;
  });
  await site.states.run(chunks, { pillar: new Map(), test: false, saltenv: 'base' });
  const tags = names.map(name => `test_|-${name}_|-${name}_|-nop`);
  for (const tag of tags) site.states.started({ tag, id: '', fun: 'test.nop', name: '' });
  return { states: site.states, tags };
};

test('output of a state is shown, unless it has no_log or is not of the run', async () => {
  const { states, tags } = await running(['open', 'secret'], { no_log: true });
  const shown = [...tags, 'test_|-other_|-other_|-nop'].map(tag =>
    states.shown({ tag, stream: 'stdout', text: 'word' }),
  );
  expect(shown).toEqual([expect.objectContaining({ text: 'word' }), undefined, undefined]);
});

test('a piece of output costs the same however many states the run has', async () => {
  const most = 4000;
  const sizes = [most, most / 4];
  const runs = new Map(
    await Promise.all(
      sizes.map(async size => {
        const names = Array.from({ length: size }, (_, at) => `state ${at}`);
        return [size, await running(names)] as const;
      }),
    ),
  );
  const work = (size: number) => () => {
    const run = runs.get(size);
    for (const tag of run?.tags ?? []) run?.states.shown({ tag, stream: 'stdout', text: '.' });
  };
  expect(await growth(work, most)).toBeUndefined();
});
