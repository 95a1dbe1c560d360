import { expect, test } from 'vitest';
import type { Live } from '../../src/output/live.ts';
import { createOutput } from '../../src/output/output.ts';
import { createProgress } from '../../src/output/progress.ts';
import type { OutputRequest } from '../../src/output/request.ts';
import { TsaltError } from '../../src/protocol/error.ts';
import type { HostResult, RunEvent } from '../../src/protocol/event.ts';
import type { Plain } from '../../src/protocol/plain.ts';
import { mix, outputOptions } from './recorded.ts';

const collect = async (
  options: Partial<OutputRequest['options']> = {},
  more: Partial<OutputRequest> = {},
) => {
  const out: string[] = [];
  const err: string[] = [];
  const output = await createOutput({
    options: { ...outputOptions, ...options },
    write: text => out.push(text),
    complain: text => err.push(text),
    logLevel: 'warning',
    timeline: false,
    ...more,
  });
  return { output, out, err };
};

const gave = (id: string, value: boolean): RunEvent => ({
  type: 'host',
  result: { id, fun: 'test.ping', value, retcode: 0 },
});

const turn = (): Promise<void> => new Promise(resolve => setTimeout(resolve, 20));

test('each host is written as it comes', async () => {
  const { output, out } = await collect();
  output.emit(gave('b', true));
  await expect.poll(() => out).toEqual(['b:\n    True\n']);
  output.emit(gave('a', false));
  await output.finish();
  expect(out).toEqual(['b:\n    True\n', 'a:\n    False\n']);
});

test('static output is one document at the end', async () => {
  const { output, out } = await collect({ static: true, out: 'json' });
  output.emit(gave('b', true));
  output.emit(gave('a', false));
  await turn();
  expect(out).toEqual([]);
  await output.finish();
  expect(out.map(text => JSON.parse(text))).toEqual([{ b: true, a: false }]);
});

test('an outputter that fails is told, and the usual one shows what the hosts did', async () => {
  const broken = () => {
    throw new Error('no ink');
  };
  const { output, out, err } = await collect(
    { out: 'own' },
    { userFormat: async () => ({ format: broken }) },
  );
  output.emit(gave('b', true));
  await output.finish();
  expect(out).toEqual(['b:\n    True\n']);
  expect(err.join('')).toContain("The outputter 'own' failed: no ink.");
});

/** Deeper than any function that calls itself can follow. */
const endless = (): Plain => {
  let value: Plain = 1;
  for (let depth = 0; depth < 200_000; depth += 1) value = [value];
  return value;
};

test.each([
  'nested',
  'json',
  'yaml',
  'table',
  'pprint',
  'txt',
  'raw',
  'markdown',
  'junit',
  'ndjson',
])('a host whose data cannot be shown costs no other its result, with --out=%s', async out => {
  const shown = await collect({ static: true, out });
  shown.output.emit(gave('good', true));
  shown.output.emit({
    type: 'host',
    result: { id: 'evil', fun: 'test.ping', value: endless(), retcode: 0 },
  });
  shown.output.emit(gave('other', true));
  await shown.output.finish();
  const text = shown.out.join('');
  expect(text).toContain('good');
  expect(text).toContain('other');
  expect(text).toContain('evil: what the host gave back cannot be shown: ');
});

const broken = (id: string): RunEvent => ({
  type: 'host',
  result: {
    id,
    fun: 'state.apply',
    value: ["Rendering SLS 'a' failed."],
    retcode: 65,
    problems: [
      { message: "Rendering SLS 'a' failed.", at: { file: 'pillar/a.sls', line: 3, column: 2 } },
    ],
  },
});

test.each(['json', 'quiet', 'txt'])(
  'beside --out %s standard error says once where the faults are',
  async out => {
    const { output, err } = await collect({ out });
    output.emit(broken('a'));
    output.emit(broken('b'));
    await output.finish();
    expect(err.filter(text => text.includes('pillar/a.sls:3:2'))).toHaveLength(1);
  },
);

test.each(['nested', 'highstate'])('--out %s says itself where the faults are', async out => {
  const { output, out: written, err } = await collect({ out });
  output.emit(broken('a'));
  await output.finish();
  expect(written.join('')).toContain('pillar/a.sls:3:2');
  expect(err).toEqual([]);
});

test('faults are not told where the log is quiet', async () => {
  const { output, err } = await collect({ out: 'json' }, { logLevel: 'quiet' });
  output.emit(broken('a'));
  await output.finish();
  expect(err).toEqual([]);
});

test('junit is one document even without --static', async () => {
  const { output, out } = await collect({ out: 'junit' });
  output.emit(gave('b', true));
  output.emit(gave('a', false));
  await output.finish();
  expect(out).toHaveLength(1);
  expect(out[0]).toContain('tests="2"');
});

test('log lines go to standard error from their level on, made harmless', async () => {
  const { output, out, err } = await collect();
  const log = { type: 'log', module: 'm', host: 'web1' } as const;
  output.emit({ ...log, level: 'info', message: 'quiet' });
  output.emit({ ...log, level: 'warning', message: 'loud \u001b[2J' });
  await output.finish();
  expect([out, err]).toEqual([[], ['[WARNING ] web1: m: loud ?[2J\n']]);
});

test('a log file has its own level and times', async () => {
  const lines: string[] = [];
  const { output, err } = await collect(
    {},
    { logFile: { level: 'debug', write: text => lines.push(text) } },
  );
  output.emit({ type: 'log', module: 'm', level: 'debug', message: 'x' });
  expect(err).toEqual([]);
  expect(lines[0]).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z \[DEBUG {3}\] x\n$/);
});

test('a run that breaks off after states shows both', async () => {
  const { output, out, err } = await collect();
  const failure = { kind: 'host', code: 'link-lost', message: 'The link broke.' } as const;
  output.emit({
    type: 'host',
    result: { id: 'web1', fun: 'state.apply', states: mix, retcode: 2, failure },
  });
  await output.finish();
  expect(out.join('')).toContain('Summary for web1');
  expect(err).toEqual(['web1: The link broke.\n']);
});

test('a run that cannot be done leaves valid JSON and one sentence', async () => {
  for (const [out, text] of [
    ['json', '{}\n'],
    ['yaml', '{}\n'],
    [undefined, undefined],
  ] as const) {
    const made = await collect(out === undefined ? {} : { out });
    await made.output.fail(new TsaltError('x', 'No way.', { hint: 'Go around.' }));
    expect(made.err).toEqual(['tsalt-ssh: No way.\nGo around.\n']);
    expect(made.out).toEqual(text === undefined ? [] : [text]);
  }
});

test('ndjson writes every event at once and an error as an event', async () => {
  const { output, out, err } = await collect({ out: 'ndjson' });
  output.emit(gave('a', true));
  expect(JSON.parse(out[0] ?? '')).toMatchObject({
    type: 'host',
    result: { id: 'a', value: true },
  });
  await output.fail(new TsaltError('no-target', 'None.', { kind: 'no-target' }));
  expect(JSON.parse(out[1] ?? '')).toMatchObject({
    type: 'error',
    code: 'no-target',
    message: 'None.',
  });
  expect(err).toEqual(['tsalt-ssh: None.\n']);
});

test('progress starts only when a run lasts, and is gone before results are written', async () => {
  const seen: string[] = [];
  const live: Live = {
    emit: event => seen.push(event.type),
    pause: async () => {
      seen.push('pause');
      return () => seen.push('resume');
    },
    stop: async () => {
      seen.push('stop');
    },
  };
  const quick = await collect({}, { live: async () => live, liveAfter: 1000 });
  quick.output.emit(gave('a', true));
  await quick.output.finish();
  expect([seen, quick.out]).toEqual([[], ['a:\n    True\n']]);

  const slow = await collect(
    {},
    { live: async () => live, liveAfter: 1, write: () => seen.push('write') },
  );
  slow.output.emit({ type: 'start', hosts: ['a'], fun: 'test.ping' });
  await turn();
  (await slow.output.pause())();
  slow.output.emit(gave('a', true));
  await slow.output.finish();
  expect(seen).toEqual(['start', 'pause', 'resume', 'host', 'stop', 'write']);
});

test('progress tells where each host is, or counts them when they are many', () => {
  const events: RunEvent[] = [
    { type: 'start', hosts: ['a', 'b'], fun: 'state.apply' },
    { type: 'phase', host: 'a', phase: 'run' },
    { type: 'plan', host: 'a', total: 6 },
    { type: 'state-start', host: 'a', tag: 't', id: 'i', fun: 'cmd.run', name: 'x\u001by' },
    ...Object.entries(mix).map(
      ([tag, result]): RunEvent => ({ type: 'state', host: 'a', tag, result }),
    ),
  ];
  const few = createProgress(5);
  const many = createProgress(1);
  for (const event of events) for (const progress of [few, many]) progress.follow(event);
  expect(few.rows().map(row => row())).toEqual([
    { title: 'a  6/6, 3 changed, 2 failed', detail: 'cmd.run x?y' },
    { title: 'b', detail: 'waiting' },
  ]);
  expect(many.rows().map(row => row().title)).toEqual([
    '2 hosts: 0 done, 0 failed, 1 running, 1 waiting',
  ]);
  const done: HostResult = { id: 'a', fun: 'x', retcode: 2 };
  few.follow({ type: 'host', result: done });
  expect(few.rows()[0]?.()).toMatchObject({ outcome: 'failed', detail: '' });
});
