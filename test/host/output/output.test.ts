import { expect, test, vi } from 'vitest';
import { toPlain } from '../../../src/data/values/value.ts';
import { outputNames } from '../../../src/output/format.ts';
import type { Live } from '../../../src/output/live.ts';
import { createOutput } from '../../../src/output/output.ts';
import { createProgress } from '../../../src/output/progress.ts';
import type { OutputRequest } from '../../../src/output/request.ts';
import { TsaltError } from '../../../src/protocol/error.ts';
import type { HostResult, RunEvent } from '../../../src/protocol/event.ts';
import type { Plain } from '../../../src/protocol/plain.ts';
import { loadYaml } from '../../../src/yaml/load.ts';
import { mix, outputOptions } from '../../output/recorded.ts';

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

const gave = (id: string, value: Plain): RunEvent => ({
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

test("an outputter that fails is reported, and the usual one shows the hosts' results", async () => {
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
  expect(text).toContain('evil: the result of the host cannot be shown: ');
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

test('errors are not printed if the log is quiet', async () => {
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

const marks = '\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c';
const forged = `x\n[ERROR   ] web2: cmd: down\r\n2026-01-01T00:00:00.000Z [ERROR   ] a\u2028b ${marks}\u001b[2J`;
// Characters that a terminal interprets, or that an editor shows in another order than a program
// reads.
const obeyed =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

test('a newline in what a host logs begins no line on standard error or in the log file', async () => {
  const lines: string[] = [];
  const logFile = { level: 'debug', write: (text: string) => lines.push(text) } as const;
  const { output, err } = await collect({}, { logFile, timeline: true });
  output.emit({ type: 'log', level: 'error', host: 'web1', module: forged, message: forged });
  output.emit({ type: 'log', level: 'error', module: 'output', message: forged });
  output.emit({ type: 'phase', host: 'web1', phase: 'run', detail: forged });
  expect([err.length, lines.length]).toEqual([3, 2]);
  for (const line of [...err, ...lines]) {
    expect(line).toMatch(/^[^\n\u2028\u2029]*\n$/);
    expect(line.slice(0, -1)).not.toMatch(obeyed);
    expect(line).toContain('x\\n[ERROR   ] web2: cmd: down\\n2026-01-01');
  }
});

test('a failure or fault that holds a newline begins no line of its own on standard error', async () => {
  const { output, err } = await collect({ out: 'json' });
  const failure = { kind: 'host', code: 'x', message: forged } as const;
  const problems = [{ message: forged, hint: forged, excerpt: forged }];
  const result = { id: 'web1', fun: 'state.apply', retcode: 1, states: mix, failure, problems };
  output.emit({ type: 'host', result });
  await output.finish();
  const lines = err.join('').split(/[\n\u2028\u2029]/);
  expect(lines.length).toBeGreaterThan(8);
  expect(lines.filter(line => /^(\[|2026)/.test(line))).toEqual([]);
  for (const line of lines) expect(line).not.toMatch(obeyed);
});

test.each(outputNames)(
  '--out=%s lets no bidi mark or control character of a host through',
  async out => {
    const values: Plain[] = [forged, { [forged]: forged, list: [forged, { [marks]: [marks] }] }];
    const given = (value: Plain): HostResult => ({
      id: `web${marks}`,
      fun: 'x.y',
      value,
      retcode: 0,
    });
    const states = Object.fromEntries(
      Object.entries(mix).map(([tag, state]) => [
        tag + marks,
        { ...state, comment: forged, name: forged, changes: { [forged]: forged } },
      ]),
    );
    const results: HostResult[] = [
      ...values.map(given),
      { id: 'ran', fun: 'state.apply', states, retcode: 0 },
      { id: 'gone', fun: 'x', retcode: 1, failure: { kind: 'host', code: 'x', message: forged } },
    ];
    for (const result of results) {
      const { output, out: written, err } = await collect({ out });
      output.emit({ type: 'host', result });
      await output.finish();
      // Colours are ours; none is asked for here.
      expect(written.join('') + err.join('')).not.toMatch(obeyed);
    }
  },
);

test.each(['yaml', 'sls'])('--out=%s escapes marks and stays the same data', async out => {
  const { output, out: written } = await collect({ out });
  output.emit(gave('web1', { [marks]: marks, kept: 'grüße 日本' }));
  await output.finish();
  const text = written.join('');
  const data = toPlain(loadYaml(text));
  expect(text).toContain('kept: grüße 日本');
  expect(out === 'yaml' ? data : { web1: data }).toEqual({
    web1: { [marks]: marks, kept: 'grüße 日本' },
  });
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

test('progress shows the stage of each host, or counts hosts if they are many', () => {
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
    '[....................] 2 hosts: 0 done, 0 failed, 1 running, 1 waiting',
  ]);
  const done: HostResult = { id: 'a', fun: 'x', retcode: 2 };
  few.follow({ type: 'host', result: done });
  expect(few.rows()[0]?.()).toMatchObject({ outcome: 'failed', detail: '' });
});

test('progress shows the last line of a state, its time and its silence', () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  try {
    const progress = createProgress(10);
    const detail = (): string | undefined => progress.rows()[0]?.().detail;
    progress.follow({ type: 'start', hosts: ['a'], fun: 'state.apply' });
    progress.follow({ type: 'phase', host: 'a', phase: 'run' });
    const said = { type: 'output', host: 'a', tag: 't', stream: 'stdout' } as const;
    progress.follow({
      type: 'state-start',
      host: 'a',
      tag: 't',
      id: 'i',
      fun: 'cmd.run',
      name: 'x',
    });
    vi.advanceTimersByTime(3000);
    expect(detail()).toBe('cmd.run x  3 s');
    progress.follow({ ...said, text: 'first\n\u001b[2Jlast\n\n' });
    expect(detail()).toBe('cmd.run x  3 s  | ?[2Jlast');
    vi.advanceTimersByTime(40_000);
    expect(detail()).toBe('cmd.run x  43 s  silent for 40 s  | ?[2Jlast');
  } finally {
    vi.useRealTimers();
  }
});

const large = 'ab\n'.repeat(3_000_000);

test.each([
  ['json', {}],
  ['json', { indent: -1 }],
  ['json', { indent: 'pretty' }],
] as const)(
  'static %s of results larger than memory is one whole document %j',
  async (out, more) => {
    const { output, out: texts } = await collect({ static: true, out, ...more });
    for (const id of ['d', 'b', 'c', 'a', 'e']) output.emit(gave(id, { big: large, id }));
    await output.finish();

    const all = ['d', 'b', 'c', 'a', 'e'].map(id => [id, { big: large, id }] as const);
    const order = 'indent' in more && more.indent === 'pretty' ? all.toSorted() : all;
    const indent = 'indent' in more && more.indent === -1 ? 0 : 4;
    const expected = `${JSON.stringify(Object.fromEntries(order), null, indent)}\n`;
    expect(texts.join('') === expected).toBe(true);
  },
);

test.each(['yaml', 'nested', 'raw', 'pprint', 'sls'])(
  'static %s of large results cuts each host with a mark, says so, and shows the others',
  { tags: 'slow' },
  async out => {
    const { output, out: texts, err } = await collect({ static: true, out });
    output.emit(gave('a', { big: large }));
    output.emit(gave('b', 'small'));
    await output.finish();

    const text = texts.join('');
    expect(text.includes('small')).toBe(true);
    expect(text.includes('[cut]')).toBe(true);
    expect(text.length).toBeLessThan(100_000_000);
    expect(err.join('')).toContain('a: the result is too large for this output');
  },
);

test('progress keeps no more of an event than a row has room for', async () => {
  const progress = createProgress(5);
  progress.follow({ type: 'start', hosts: ['a'], fun: 'state.apply' });
  progress.follow({ type: 'phase', host: 'a', phase: 'run' });
  const name = 'x'.repeat(4_000_000);
  progress.follow({ type: 'state-start', host: 'a', tag: 't', fun: 'test.nop', name } as RunEvent);
  const [row] = progress.rows();
  const begin = performance.now();
  for (let count = 0; count < 100; count += 1) expect(row?.().detail.length).toBeLessThan(200);
  expect(performance.now() - begin).toBeLessThan(500);
});

const failed = (id: string, why: string): RunEvent => ({
  type: 'host',
  result: {
    id,
    fun: 'state.apply',
    retcode: 68,
    failure: { kind: 'unreachable', code: 'refused', message: `${id}: ${why}` },
  },
});

const fleet = Array.from({ length: 25 }, (_, at) => `web${String(at + 1).padStart(2, '0')}`);

test('for people an error of many hosts is printed once with its hosts', async () => {
  const { output, out } = await collect();
  for (const id of fleet) output.emit(failed(id, 'the connection was refused'));
  output.emit(failed('db1', 'no answer'));
  await output.finish();
  expect(out).toEqual([
    'web01:\n    web01: the connection was refused\n',
    'db1:\n    db1: no answer\n',
    expect.stringMatching(
      /^The error of web01 also occurred on 24 more hosts: web02, web03, .*, web21 … and 4 more\n$/,
    ),
  ]);
});

test('an error that differs in the address of the host is printed once, too', async () => {
  const { output, out } = await collect();
  for (const [at, id] of fleet.entries())
    output.emit(failed(id, `no. Cannot connect to ${id} (192.0.2.${at}:22): it was refused`));
  await output.finish();
  expect(out).toEqual([
    'web01:\n    web01: no. Cannot connect to web01 (192.0.2.0:22): it was refused\n',
    expect.stringMatching(/^The error of web01 also occurred on 24 more hosts/),
  ]);
});

test('data for programs has the error of each host', async () => {
  const { output, out } = await collect({ out: 'json', static: true });
  for (const id of fleet) output.emit(failed(id, 'the connection was refused'));
  await output.finish();
  expect(Object.keys(JSON.parse(out.join('')))).toEqual(fleet);
});

test('a warning of many hosts is printed once with its hosts, unless details are asked for', async () => {
  const warn = (host: string): RunEvent => ({
    type: 'log',
    host,
    module: 'file',
    level: 'warning',
    message: `mode of ${host} is odd`,
  });
  const { output, err } = await collect();
  for (const host of ['a1', 'a1', 'a2', 'a3']) output.emit(warn(host));
  await output.finish();
  expect(err).toEqual([
    '[WARNING ] a1: file: mode of a1 is odd\n',
    '[WARNING ] a1: file: mode of a1 is odd\n',
    '[WARNING ] file: mode of a1 is odd (also on 2 more hosts: a2, a3)\n',
  ]);
  const all = await collect({}, { logLevel: 'debug' });
  for (const host of ['a1', 'a2', 'a3']) all.output.emit(warn(host));
  await all.output.finish();
  expect(all.err).toHaveLength(3);
});
