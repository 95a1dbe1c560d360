import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import * as eventExec from '../../../src/modules/event/exec/event.ts';
import * as eventState from '../../../src/modules/event/states/event.ts';
import * as stateExec from '../../../src/modules/salt/exec/state.ts';
import * as testAbout from '../../../src/modules/salt/exec/test/about.ts';
import * as testCalls from '../../../src/modules/salt/exec/test/calls.ts';
import * as testChained from '../../../src/modules/salt/exec/test/chained.ts';
import * as testLoaded from '../../../src/modules/salt/exec/test/loaded.ts';
import * as moduleState from '../../../src/modules/salt/states/module.ts';
import * as testState from '../../../src/modules/salt/states/test.ts';
import { nothing } from '../../helpers/nothing.ts';
import { contextOf, testing, within } from '../../modules/_context.ts';

const testExec = { ...testAbout, ...testCalls, ...testChained, ...testLoaded };
const grains: { [name: string]: unknown } = {};
const other = {
  fails: () => false,
  reports: () => ({ result: false, comment: 'no luck' }),
  nested: () => ({ node: { result: false } }),
  throws: () => {
    throw new Error('broke');
  },
  pair: (a: unknown, options: unknown) => [a, (options as { values?: unknown }).values ?? options],
};
const pillar = {
  get: (path: string, otherwise: unknown) =>
    ({ app: { name: 'x' }, port: 80, list: ['a'] })[path] ?? otherwise,
};
const context = contextOf({
  test: testExec,
  event: eventExec,
  state: stateExec,
  other,
  pillar,
  grains: {
    get: (key: string) => grains[key],
    setval: (key: string, value: unknown) => {
      grains[key] = value;
    },
  },
});
const inRun = <T>(work: () => T | Promise<T>) => within(context, async () => work());
const inTest = <T>(work: () => T | Promise<T>) => within(testing(context), async () => work());

describe('the test states', () => {
  test('configurable_test_state returns the requested result', async () => {
    const answer = await inRun(() =>
      testState.configurable_test_state('x', {
        changes: false,
        result: false,
        comment: 'c',
        warnings: 'w',
      }),
    );

    expect(answer).toEqual({
      name: 'x',
      changes: {},
      result: false,
      comment: 'c',
      warnings: ['w'],
    });
  });

  test('configurable_test_state refuses values it does not know', async () => {
    await expect(
      inRun(() => testState.configurable_test_state('x', { changes: 'perhaps' })),
    ).rejects.toThrow("'changes' with invalid arguments");
  });

  test('check_pillar names what is missing and what is of another type', async () => {
    const answer = await inRun(() =>
      testState.check_pillar('x', {
        present: 'gone',
        integer: ['port', 'app'],
        listing: 'list',
        verbose: true,
      }),
    );

    expect(answer.result).toBe(false);
    expect(answer.comment).toBe(
      'Pillar key "gone" is missing.\nPillar key "app" is not <class \'int\'>.\n' +
        "Those keys passed the check:\n- port (<class 'int'>)\n- list (<class 'list'>)\n",
    );
  });
});

describe('module.run', () => {
  test('calls each function with its positional and keyword arguments', async () => {
    const answer = await inRun(() =>
      moduleState.run('id', { 'test.echo': ['hello'], 'other.pair': ['a', { key: 1 }] }),
    );

    expect(answer).toMatchObject({
      result: true,
      changes: { 'test.echo': 'hello', 'other.pair': ['a', { key: 1 }] },
      comment: "test.echo: hello, other.pair: ['a', {'key': 1}]",
    });
  });

  test('collects what failed, in every form a function says so', async () => {
    const answer = await inRun(() =>
      moduleState.run('id', {
        'other.fails': null,
        'other.reports': null,
        'other.throws': null,
        'test.true': null,
      }),
    );

    expect(answer.result).toBe(false);
    expect(answer.comment).toContain("'other.fails': False");
    expect(answer.comment).toContain("'other.reports' failed: no luck");
    expect(answer.comment).toContain("'other.throws' failed: broke");
  });

  test('says which functions are not there, and in test mode which it would call', async () => {
    const run = () => moduleState.run('id', { 'no.such': null, 'test.ping': null });

    expect(await inRun(run)).toMatchObject({
      result: false,
      comment: 'Unavailable function: no.such.',
    });
    expect(await inTest(() => moduleState.run('id', { 'test.ping': null }))).toMatchObject({
      result: null,
      changes: nothing,
      comment: 'Function test.ping to be executed.',
    });
  });

  test('takes the older form: name is the function', async () => {
    expect(
      await inRun(() =>
        moduleState.run('other.pair', { args: ['a'], kwargs: { k: 2 }, m_name: 'n' }),
      ),
    ).toEqual({
      name: 'other.pair',
      changes: { ret: ['a', { name: 'n', k: 2 }] },
      result: true,
      comment: 'Module function other.pair executed',
    });
    expect((await inRun(() => moduleState.run('other.nested'))).result).toBe(false);
    expect(await inRun(() => moduleState.run('other.nested', { returner: 'mysql' }))).toMatchObject(
      { result: false, comment: expect.stringContaining('"returner" is not supported') },
    );
  });
});

describe('the event state', () => {
  test('sends, and in test mode only says so', async () => {
    expect(await inRun(() => eventState.send('a/b', { data: { x: 1 } }))).toEqual({
      name: 'a/b',
      changes: { tag: 'a/b', data: { x: 1 } },
      result: true,
      comment: 'Event fired',
    });
    expect((await inTest(() => eventState.send('a/b'))).result).toBe(null);
  });
});

describe('state functions of the host', () => {
  test('disable and enable keep a list of what is forbidden', async () => {
    const answers = await inRun(async () => [
      await stateExec.disable('pkg.*,test.nop'),
      await stateExec.disable(['test.nop']),
      await stateExec.list_disabled(),
      await stateExec.enable('test.nop'),
      await stateExec.list_disabled(),
    ]);

    expect(answers).toEqual([
      { res: true, msg: 'Info: pkg.* state disabled.\nInfo: test.nop state disabled.' },
      { res: true, msg: 'Info: test.nop state already disabled.' },
      ['pkg.*', 'test.nop'],
      { res: true, msg: 'Info: test.nop state enabled.' },
      ['pkg.*'],
    ]);
  });

  test('running names the run that holds the host, not this one and no dead one', async () => {
    const cachedir = mkdtempSync(join(tmpdir(), 'tsalt-state-'));
    const running = () =>
      within({ ...context, opts: { ...context.opts, cachedir } }, async () => stateExec.running());
    const hold = (pid: number): void =>
      writeFileSync(
        join(cachedir, 'run.lock'),
        JSON.stringify({ pid, begun: '', fun: 'state.apply', since: '2026-01-02T03:04:05.000Z' }),
      );

    hold(process.ppid);
    expect(await running()).toEqual([
      `The function "state.apply" is running as PID ${process.ppid} and was started at 2026-01-02 03:04:05.000 UTC`,
    ]);
    hold(process.pid);
    expect(await running()).toEqual([]);
    hold(2 ** 22 + 1);
    expect(await running()).toEqual([]);
  });
});

describe('the test functions', () => {
  test('arg returns its arguments', async () => {
    expect(await inRun(() => testExec.arg({ b: 2 }, 1))).toEqual({ args: [1], kwargs: { b: 2 } });
    expect(await inRun(() => testExec.arg_repr({ b: null }, 'x'))).toEqual({
      args: "('x',)",
      kwargs: "{'b': None}",
    });
    expect(await inRun(() => testExec.arg_type({ b: {} }, 1, 1.5, [], true))).toEqual({
      args: ["<class 'int'>", "<class 'float'>", "<class 'list'>", "<class 'bool'>"],
      kwargs: { b: "<class 'dict'>" },
    });
  });

  test('try returns null if the function throws, or its message', async () => {
    expect(await inRun(() => testExec.try_('other.throws'))).toBe(null);
    expect(await inRun(() => testExec.try_('other.throws', { return_try_exception: true }))).toBe(
      'broke',
    );
  });

  test('collatz refuses what would never end', async () => {
    await expect(inRun(() => testExec.collatz(0))).rejects.toThrow('positive integer');
  });
});

test('event.send brings the grains and variables that are asked for, never pillar', async () => {
  const lines: string[] = [];
  const heard = { ...context, log: (_: string, __: string, line: string) => lines.push(line) };
  await within(heard as typeof context, async () =>
    eventExec.send('a/b', { data: { x: 1 }, with_grains: ['os'], more: 2 }),
  );
  expect(lines).toEqual(['a/b {"x":1,"more":2,"grains":{"os":"Debian"}}']);
  await expect(
    within(context, async () => eventExec.send('a/b', { with_pillar: true })),
  ).rejects.toThrow('"with_pillar"');
  await expect(
    within(context, async () => eventExec.fire_master({}, 'a', { preload: {} })),
  ).rejects.toThrow('"preload"');
});

test('test: what there is, and what has no meaning here', async () => {
  const report = await within(context, async () => testExec.module_report());
  expect(report.functions).toContain('event.send');
  expect(report.modules).toContain('test');
  expect(await within(context, async () => testExec.opts_pkg())).toMatchObject({
    id: 'host1',
    grains: { os: 'Debian' },
  });
  expect(testExec.versions).toBe(testExec.versions_report);
  const files = { ...context, provider: async (name: string) => (name === 'test' ? 'box' : '') };
  expect(await within(files, async () => testExec.provider('test'))).toBe('box');
  expect(await within(files, async () => testExec.providers())).toEqual({ box: 'test' });
  expect(() => testExec.not_loaded()).toThrow('test.not_loaded is not supported');
});
