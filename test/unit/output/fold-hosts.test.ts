import { expect, test } from 'vitest';
import { createOutput } from '../../../src/output/output.ts';
import { createProgress } from '../../../src/output/progress.ts';
import type { OutputRequest } from '../../../src/output/request.ts';
import type { HostResult, RunEvent } from '../../../src/protocol/event.ts';
import type { StateResults } from '../../../src/protocol/result.ts';
import { mix, outputOptions } from '../../output/recorded.ts';

const show = async (
  results: readonly HostResult[],
  more: Partial<OutputRequest> = {},
): Promise<string> => {
  const out: string[] = [];
  const output = await createOutput({
    options: outputOptions,
    write: text => out.push(text),
    complain: () => undefined,
    logLevel: 'warning',
    timeline: false,
    fold: true,
    ...more,
  });
  output.emit({ type: 'start', hosts: results.map(({ id }) => id), fun: 'state.apply' });
  for (const result of results) output.emit({ type: 'host', result });
  await output.finish();
  return out.join('');
};

const applied = (id: string, states: StateResults = mix): HostResult => ({
  id,
  fun: 'state.apply',
  states,
  retcode: 2,
});

const mended = (result: HostResult): HostResult => ({ ...result, retcode: 0 });

const late = (states: StateResults): StateResults =>
  Object.fromEntries(
    Object.entries(states).map(([tag, state]) => [tag, { ...state, duration: 77.5 }]),
  );

const count = (text: string, part: string): number => text.split(part).length - 1;

test('output: hosts whose results differ in time alone are shown once, with their names', async () => {
  const text = await show([applied('web1'), applied('web2', late(mix)), applied('web3')]);
  expect(text).toContain('3 hosts alike: web1, web2, web3\nweb1:\n');
  expect(count(text, 'Comment: Failure!')).toBe(1);
  expect(text).toMatch(/Recap: 3 hosts in \d+\.\d s: 3 failed/);
  expect(text).toMatch(/^web2 +1 +3 +2 +0 {2}failed +\d+\.\d s$/m);
  expect(text).toMatch(
    /Failed: 3 hosts: web1, web2, web3\n {4}test\.fail_without_changes bad: Failure!\n/,
  );
});

test('output: the recap of a run in test mode says what would change', async () => {
  const [tag = '', first] = Object.entries(mix)[0] ?? [];
  const test = { [tag]: { ...first, result: null, changes: { a: 'b' } } } as StateResults;
  const done = { [tag]: { ...first, result: true, changes: { a: 'b' } } } as StateResults;
  const text = await show([applied('web1', test), applied('web2', done)].map(mended));
  expect(text).toMatch(/Recap: 2 hosts in \d+\.\d s: 1 would change, 1 changed/);
  expect(text).toMatch(/^web1 +0 +1 +0 +0 {2}would change +\d+\.\d s$/m);
  expect(text).toMatch(/^web2 +0 +1 +0 +0 {2}changed +\d+\.\d s$/m);
});

test('output: a state with the same result as on another host is not repeated', async () => {
  const [tag = '', first] = Object.entries(mix)[1] ?? [];
  const other = { ...mix, [tag]: { ...first, comment: 'Quite different' } } as StateResults;
  const text = await show([applied('web1'), applied('web2', other)]);
  expect(count(text, 'Comment: Failure!')).toBe(1);
  expect(text).toContain('Quite different');
  expect(text).toContain('    5 states as on web1\n');
  const summaries = [...text.matchAll(/Summary for web\d\n-+\n(Succeeded.*\nFailed.*)/g)];
  expect(summaries[0]?.[1]).toBe(summaries[1]?.[1]);
});

test('output: without folding, several hosts have the layout of one host each', async () => {
  const one = await show([applied('web1')]);
  const two = await show([applied('web2')]);
  const both = await show([applied('web1'), applied('web2')], { fold: false });
  expect(both).toBe(one + two);
  expect(one).not.toContain('Recap');
});

test('output: formats for programs are not folded', async () => {
  const options = { ...outputOptions, out: 'json' };
  const results = [applied('web1'), applied('web2')];
  expect(await show(results, { options })).toBe(await show(results, { options, fold: false }));
});

test('output: returns of functions are folded on more than ten hosts', async () => {
  const hosts = (length: number): HostResult[] =>
    Array.from({ length }, (_, at) => ({
      id: `h${at}`,
      fun: 'test.ping',
      value: true,
      retcode: 0,
    }));
  expect(await show(hosts(10))).not.toContain('alike');
  const text = await show(hosts(120));
  expect(text).toContain('120 hosts alike: h0, h1, h10,');
  expect(text).toContain('… and 100 more');
  expect(count(text, 'True')).toBe(1);
});

test('output: the recap hides what no_log hides, and keeps text of hosts on one line', async () => {
  const failed = (comment: string, more = {}): StateResults => ({
    'cmd_|-x_|-x_|-run': {
      name: 'x',
      changes: {},
      result: false,
      comment,
      __id__: 'x',
      __run_num__: 0,
      start_time: '',
      duration: 1,
      ...more,
    } as StateResults[string],
  });
  const text = await show([
    applied('a', failed('s3cret', { no_log: true })),
    applied('b', failed('one\n\u001b[31mRecap: forged')),
    { id: 'c', fun: 'state.apply', retcode: 1, failure: gone },
  ]);
  expect(text).not.toContain('s3cret');
  expect(text).toContain('    cmd.run x: one ?[31mRecap: forged\n');
  expect(text.trimEnd()).toMatch(/Unreachable: c\n {4}c: no route$/);
});

const gone = { kind: 'unreachable', code: 'connect', message: 'c: no route' } as const;

test('output: equal results of many hosts need no memory', { tags: 'slow' }, async () => {
  const big = 'x'.repeat(200_000);
  const before = process.memoryUsage().rss;
  const results = function* (): Generator<HostResult> {
    for (let at = 0; at < 1500; at += 1)
      yield { id: `h${at}`, fun: 'cmd.run', value: `${big}${'y'.repeat(10)}`, retcode: 0 };
  };
  const output = await createOutput({
    options: outputOptions,
    write: () => undefined,
    complain: () => undefined,
    logLevel: 'warning',
    timeline: false,
    fold: true,
  });
  output.emit({ type: 'start', hosts: Array.from({ length: 1500 }, () => 'h'), fun: 'cmd.run' });
  for (const result of results()) output.emit({ type: 'host', result });
  expect(process.memoryUsage().rss - before).toBeLessThan(200_000_000);
  await output.finish();
});

test('progress: of many hosts it lists the failing and the slowest', () => {
  const progress = createProgress(10);
  const hosts = Array.from({ length: 300 }, (_, at) => `h${at}`);
  const events: RunEvent[] = [
    { type: 'start', hosts, fun: 'state.apply' },
    ...['h1', 'h2', 'h3'].map((host): RunEvent => ({ type: 'phase', host, phase: 'run' })),
    {
      type: 'state',
      host: 'h3',
      tag: 't',
      result: Object.values(mix)[2] as StateResults[string],
    },
    { type: 'host', result: { id: 'h2', fun: 'x', retcode: 0 } },
  ];
  for (const event of events) progress.follow(event);
  const rows = progress.rows();
  expect(rows).toHaveLength(9);
  const [all, first, second, third] = rows.map(row => row().title);
  expect(all).toContain('300 hosts: 1 done, 0 failed, 2 running, 297 waiting');
  expect(first).toMatch(/^h3 {2}1 failed {2}0 s/);
  expect(second).toMatch(/^h1 {2}0 s/);
  expect(third).toBe(' ');
  progress.resize(4);
  expect(progress.rows()).toHaveLength(3);
});
