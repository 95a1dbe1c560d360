import { describe, expect, test } from 'vitest';
import { __low__, getContext } from '../../../src/modules/api.ts';
import { type LowChunk, lowTag } from '../../../src/protocol/low.ts';
import type { Plain, PlainDict } from '../../../src/protocol/plain.ts';
import { nothing } from '../../helpers/nothing.ts';
import { low } from '../../runtime/helpers/host-process.ts';
import { outcomes, pendingIn, runEngine } from '../../runtime/helpers/run-engine.ts';

const result = async (...args: Parameters<typeof runEngine>) => outcomes(await runEngine(...args));

describe('requisites', () => {
  test('run first what is required, whatever the order', async () => {
    const { times } = await runEngine([
      low('t.ok', 'last', { require: [{ t: 'first' }] }),
      low('t.ok', 'first'),
    ]);

    expect(times).toEqual(['begin first', 'end first', 'begin last', 'end last']);
  });

  test('name what failed, sorted', async () => {
    expect(
      await result([
        low('t.fail', 'z'),
        low('t.fail', 'b'),
        low('t.ok', 'x', { require: [{ t: 'z' }, { t: 'b' }] }),
      ]),
    ).toMatchObject({ x: 'false: One or more requisite failed: a.b, a.z' });
  });

  test('list those that are not there', async () => {
    expect(await result([low('t.ok', 'x', { require: [{ t: 'gone' }] })])).toEqual({
      x: `false: The following requisites were not found:\n${' '.repeat(19)}require:\n${' '.repeat(23)}t: gone\n`,
    });
  });

  test('by pattern and by file mean every state they match', async () => {
    const { times } = await runEngine([
      low('t.ok', 'x', { require: [{ t: 'web_*' }, { sls: 'b*' }] }),
      low('t.ok', 'web_1'),
      low('t.ok', 'web_2'),
      low('t.ok', 'other', { __sls__: 'bb' }),
    ]);

    expect(times.at(-1)).toBe('end x');
  });

  test('a change of what is watched brings the reaction, with what it reacts to', async () => {
    const run = await runEngine([
      low('t.changes', 'conf'),
      low('t.ok', 'x', { watch: [{ t: 'conf' }], own: 1 }),
    ]);

    expect(outcomes(run)).toMatchObject({ x: 'true: reacted' });
    expect(run.calls.at(-1)).toMatchObject({
      fun: 't.mod_watch',
      kwargs: { name: 'x', sfun: 'ok', own: 1 },
    });
  });

  test('prereq rehearses its target and acts only when that would change', async () => {
    const run = await runEngine([
      low('t.ok', 'before', { prereq: [{ t: 'target' }] }),
      low('t.changes', 'target', { prerequired: [{ t: 'before' }] }),
      low('t.ok', 'idle', { prereq: [{ t: 'still' }] }),
      low('t.ok', 'still', { prerequired: [{ t: 'idle' }] }),
    ]);

    expect(run.calls.map(({ name, test }) => [name, test])).toEqual([
      ['target', true],
      ['before', false],
      ['target', false],
      ['still', true],
      ['still', false],
    ]);
    expect(outcomes(run)).toMatchObject({ idle: 'true: No changes detected' });
  });

  test('contradictory prereq and require end as recursion, not in a circle', async () => {
    expect(
      await result([
        low('t.ok', 'a', { prereq: [{ t: 'b' }], require: [{ t: 'b' }] }),
        low('t.ok', 'b', { prerequired: [{ t: 'a' }] }),
      ]),
    ).toMatchObject({ a: 'false: Recursive requisite found' });
  });

  test('follow a chain of 20,000 states against the order', { tags: 'slow' }, async () => {
    const count = 20_000;
    const chain = Array.from({ length: count }, (_, at) =>
      low('t.ok', `s${at}`, at + 1 < count ? { require: [{ t: `s${at + 1}` }] } : {}),
    );

    const { times } = await runEngine(chain);

    expect(times.at(-1)).toBe('end s0');
    expect(times).toHaveLength(2 * count);
  });
});

describe('parallel states', () => {
  test('run at the same time, keep their numbers and hold up those that require them', async () => {
    const run = await runEngine([
      low('t.slow', 'a', { parallel: true, wait: 80 }),
      low('t.slow', 'b', { parallel: true, wait: 10 }),
      low('t.ok', 'c', { require: [{ t: 'a' }] }),
    ]);

    expect(run.times).toEqual(['begin a', 'begin b', 'end b', 'end a', 'begin c', 'end c']);
    expect(
      Object.values(run.results).map(({ __id__, __run_num__ }) => [__id__, __run_num__]),
    ).toEqual([
      ['a', 0],
      ['b', 1],
      ['c', 2],
    ]);
    expect(run.results[lowTag(low('t.slow', 'a'))]?.__parallel__).toBe(true);
  });

  test('a reaction in parallel waits for its own state', async () => {
    expect(
      await result([
        low('t.changes', 'conf'),
        low('t.slow', 'x', { parallel: true, watch: [{ t: 'conf' }] }),
      ]),
    ).toMatchObject({ x: 'true: reacted' });
  });

  test('rehearsed for a prereq one runs by itself', async () => {
    const { results } = await runEngine([
      low('t.fail', 'a', { prereq: [{ t: 'b' }] }),
      low('t.changes', 'b', { parallel: true, prerequired: [{ t: 'a' }] }),
    ]);

    expect(results[lowTag(low('t.changes', 'b'))]).toMatchObject({ changes: {}, result: null });
    expect(results[lowTag(low('t.changes', 'b'))]).not.toHaveProperty('__parallel__');
  });

  test('one that fails hard ends nothing: in Salt its result is not known when that is asked', async () => {
    const run = await runEngine([
      low('t.raise', 'a', { parallel: true, failhard: true }),
      low('t.slow', 'b'),
      low('t.ok', 'c'),
    ]);

    expect(Object.keys(outcomes(run))).toEqual(['a', 'b', 'c']);
  });
});

describe('results', () => {
  test('a state that throws is a failed state with the message', async () => {
    expect(await result([low('t.raise', 'x'), low('t.ok', 'y')])).toEqual({
      x: 'false: An exception occurred in this state: TypeError: it broke',
      y: 'true: fine',
    });
  });

  test.each([
    [new Map(), 'it is a Map'],
    [{ name: 'n', result: true, comment: '', changes: { when: 5n } }, '"changes.when" is a bigint'],
    [
      { name: 'n', result: true, comment: '', changes: { set: new Set() } },
      '"changes.set" is a Set',
    ],
    [{ result: true, changes: {} }, 'not present in the state return: name, comment.'],
    [['list'], 'Data must be a dictionary type.'],
    [{ name: 'n', result: true, comment: '', changes: [] }, "'Changes' should be a dictionary."],
  ])('a return of the wrong shape fails the state and says why: %#', async (ret, why) => {
    const table = { state: { 'odd.go': { params: 'name, **', run: () => ret } } };

    const { results } = await runEngine([low('odd.go', 'x'), low('t.ok', 'y')], { table });

    expect(Object.values(results)[0]).toMatchObject({
      result: false,
      name: 'later',
      changes: nothing,
    });
    expect(Object.values(results)[0]?.comment).toContain(why);
    expect(Object.values(results)[1]?.result).toBe(true);
  });

  test('a return that contains itself fails the state', async () => {
    const loop: Record<string, unknown> = { name: 'n', result: true, comment: '' };
    loop.changes = loop;
    const table = { state: { 'odd.go': { params: 'name, **', run: () => loop } } };

    const { results } = await runEngine([low('odd.go', 'x')], { table });

    expect(Object.values(results)[0]?.comment).toContain('a reference to itself');
  });

  test('steps of an outer tool become states of their own', async () => {
    const ret = {
      name: 'n',
      result: true,
      comment: '',
      changes: {},
      sub_state_run: [
        {
          changes: { a: 1 },
          result: true,
          comment: ['one', 'two'],
          low: { name: 'inner', state: 'idem', __id__: 'sub', fun: 'go' },
        },
      ],
    };

    const { results } = await runEngine([low('t.give', 'x', { ret })]);

    expect(results['idem_|-sub_|-inner_|-go']).toMatchObject({
      name: 'x',
      comment: 'one\ntwo',
      __id__: 'x',
      __state_ran__: true,
    });
    expect(results[lowTag(low('t.give', 'x'))]).not.toHaveProperty('sub_state_run');
  });

  test('start and duration are measured', async () => {
    const { results } = await runEngine([low('t.slow', 'x', { wait: 20 })]);

    expect(Object.values(results)[0]?.start_time).toMatch(/^\d\d:\d\d:\d\d\.\d{6}$/);
    expect(Object.values(results)[0]?.duration).toBeGreaterThan(15);
  });
});

describe('retry', () => {
  /** Fails until its third call. */
  const third = () => {
    let calls = 0;
    return {
      state: {
        'flaky.go': {
          params: 'name',
          run: ({ name }: { name?: unknown }) => ({
            name,
            changes: {},
            result: ++calls === 3,
            comment: `try ${calls}`,
          }),
        },
      },
    };
  };

  test('repeats until the result is right and reports each attempt', async () => {
    const { results } = await runEngine(
      [low('flaky.go', 'x', { retry: { attempts: 5, interval: 0 } })],
      { table: third() },
    );

    expect(Object.values(results)).toMatchObject([
      {
        result: true,
        __run_num__: 2,
        comment:
          'Attempt 1: Returned a result of "False", with the following comment: "try 1"\n' +
          'Attempt 2: Returned a result of "False", with the following comment: "try 2"\ntry 3',
      },
    ]);
  });

  const twice = { retry: { attempts: 2, interval: 0 } };

  test('calls a parallel state once more than `attempts`, as in Salt', async () => {
    const { results } = await runEngine([low('flaky.go', 'x', { ...twice, parallel: true })], {
      table: third(),
    });

    expect(Object.values(results)).toMatchObject([
      {
        result: true,
        __run_num__: 0,
        comment:
          'try 1\n' +
          'Attempt 1: Returned a result of "False", with the following comment: "try 2"\n' +
          'Attempt 2: Returned a result of "True", with the following comment: "try 3"',
      },
    ]);
  });

  test('is not for a state that its conditions keep from starting in parallel', async () => {
    const { calls, results } = await runEngine([
      low('t.ok', 'x', { ...twice, parallel: true, creates: '/', retry: { until: false } }),
    ]);

    expect(calls).toEqual([]);
    expect(Object.values(results)).toMatchObject([{ comment: '/ exists' }]);
  });
});

describe('conditions', () => {
  const table = {
    exec: {
      'cmd.retcode': {
        params: 'cmd, **',
        run: ({ cmd }: { cmd?: unknown }) => (cmd === 'true' ? 0 : 1),
      },
      'my.dict': { params: '', run: () => ({ a: { b: [0, 'yes'] } }) },
      'my.left': { params: '', run: () => true },
    },
  };

  test.each([
    [{ onlyif: 'true' }, 'fine'],
    [{ onlyif: ['true', 'false'] }, 'onlyif condition is false'],
    [{ unless: ['true', 'true'] }, 'unless condition is true'],
    [{ unless: ['true', 'false'] }, 'fine'],
    [{ onlyif: [{ fun: 'my.dict', get_return: 'a:b:1' }] }, 'fine'],
    [{ onlyif: [{ fun: 'my.dict', get_return: 'a:b:0' }] }, 'onlyif condition is false'],
    [{ unless: [{ fun: 'my.dict', get_return: 'a:x' }] }, 'fine'],
    [{ creates: '/' }, '/ exists'],
    [{ creates: ['/', '/no such file'] }, 'fine'],
    [{ onlyif: 'true', unless: 'true' }, 'onlyif condition is true\nunless condition is true'],
  ])('%j', async (conditions, comment) => {
    const run = await runEngine([low('t.ok', 'x', conditions)], { table });

    expect(outcomes(run)).toEqual({ x: `true: ${comment}` });
  });

  test('a function that is not there fails the state', async () => {
    const run = await runEngine([low('t.ok', 'x', { onlyif: [{ fun: 'no.such' }] })], { table });

    expect(outcomes(run).x).toContain("'no.such' is not available.");
  });

  test('check_cmd alone decides', async () => {
    const run = await runEngine([low('t.fail', 'x', { check_cmd: ['true'] })], { table });

    expect(outcomes(run)).toEqual({ x: 'true: check_cmd determined the state succeeded' });
  });
});

describe('slots', () => {
  const table = {
    exec: {
      'my.echo': {
        params: 'text, suffix?',
        run: ({ text, suffix = '' }: { text?: unknown; suffix?: unknown }) => `${text}${suffix}`,
      },
      'my.deep': { params: '', run: () => ({ a: ['x', { b: 'found' }] }) },
    },
  };
  const filled = async (value: Plain) => {
    const { calls } = await runEngine([low('t.ok', 'x', { value })], { table });
    return calls[0]?.kwargs.value;
  };

  test.each([
    ['__slot__:salt:my.echo(hello)', 'hello'],
    ['__slot__:salt:my.echo(\'a, b\', suffix="!")', 'a, b!'],
    ['__slot__:salt:my.echo(hello) ~ /tail', 'hello/tail'],
    ['__slot__:salt:my.deep().a.1.b', 'found'],
    ['__slot__:salt:no.such(1)', '__slot__:salt:no.such(1)'],
    ['__slot__:salt:my.echo(never closed', '__slot__:salt:my.echo(never closed'],
    ['plain', 'plain'],
  ])('%s', async (slot, value) => {
    expect(await filled(slot)).toBe(value);
  });

  test('are looked for in lists and in dictionaries', async () => {
    expect(await filled(['__slot__:salt:my.echo(1)', 'b'])).toEqual(['1', 'b']);
    expect(await filled({ a: '__slot__:salt:my.echo(2)' })).toEqual({ a: '2' });
    expect(await filled([{ a: '__slot__:salt:my.echo(3)' }])).toEqual([{ a: '3' }]);
  });

  test('are text where they lie deeper, as in Salt', async () => {
    const slot = '__slot__:salt:my.echo(1)';
    for (const value of [[[slot]], { a: { b: slot } }, { a: [slot] }, [{ a: [slot] }]])
      expect(await filled(value)).toEqual(value);
  });
});

describe('a command line that a state names has no shell unless it says so, as in Salt', () => {
  const asked: unknown[] = [];
  const table = {
    exec: {
      'cmd.run': {
        params: 'cmd, **',
        run: ({ python_shell }: { python_shell?: unknown }) => {
          asked.push(python_shell);
          return 'x';
        },
      },
    },
  };
  const shells = async (args: PlainDict, opts: PlainDict = {}) => {
    asked.length = 0;
    await runEngine([low('t.ok', 'x', args)], { table, opts });
    return asked;
  };

  test('in a condition', async () => {
    expect(await shells({ onlyif: [{ fun: 'cmd.run', args: ['a | b'] }] })).toEqual([false]);
    expect(await shells({ unless: [{ fun: 'cmd.run', cmd: 'a', python_shell: true }] })).toEqual([
      true,
    ]);
    const open = { onlyif: [{ fun: 'cmd.run', args: ['a | b'] }] };
    expect(await shells(open, { cmd_safe: false })).toEqual([undefined]);
  });

  test('in a slot', async () => {
    expect(await shells({ value: '__slot__:salt:cmd.run(a)' })).toEqual([false]);
    expect(await shells({ value: '__slot__:salt:cmd.run(a, python_shell=True)' })).toEqual([
      'True',
    ]);
  });
});

describe('aggregation', () => {
  const table = {
    state: {
      'agg.go': {
        params: 'name, all?, **',
        run: ({ name, all }: { name?: unknown; all?: unknown }) => ({
          name,
          changes: {},
          result: true,
          comment: String(all ?? name),
        }),
      },
    },
    hooks: {
      'agg.mod_aggregate': (chunk: unknown, chunks: unknown) => {
        const own = chunk as { all?: unknown };
        own.all = (chunks as { state: string; name: string; __agg__?: boolean }[])
          .filter(other => other.state === 'agg')
          .map(other => {
            other.__agg__ = true;
            return other.name;
          });
        return own;
      },
    },
  };

  test('takes over what the others require, but nothing that waits for itself', async () => {
    const run = await runEngine(
      [
        low('agg.go', 'a', { aggregate: true }),
        low('t.ok', 'repo'),
        low('agg.go', 'b', { require: [{ t: 'repo' }] }),
        low('agg.go', 'c', { require: [{ agg: 'a' }] }),
      ],
      { table },
    );

    expect(Object.values(run.results).map(({ comment }) => comment)).toEqual([
      'fine',
      'a,b,c',
      'b',
      'c',
    ]);
  });

  test('happens only where it is asked for', async () => {
    const chunks = [low('agg.go', 'a'), low('agg.go', 'b')];

    const [off, on] = [
      await result(chunks, { table }),
      await result(chunks, { table, opts: { state_aggregate: ['agg'] } }),
    ];

    expect(off).toEqual({ a: 'true: a', b: 'true: b' });
    expect(on.a).toBe('true: a,b');
  });
});

describe('listen', () => {
  const reactions = async (pending: Set<string>, chunks: Parameters<typeof runEngine>[0]) => {
    const { results } = await runEngine(chunks, {
      pending: pendingIn(pending),
    });
    return Object.values(results)
      .filter(({ comment }) => comment === 'reacted')
      .map(({ __id__ }) => __id__);
  };
  const listener = low('t.ok', 'web', { listen: [{ t: 'conf' }] });

  test('reacts once, after all states, even when the run failed hard', async () => {
    const chunks = [
      low('t.changes', 'conf'),
      listener,
      low('t.changes', 'more', { listen_in: [{ t: 'web' }] }),
      low('t.fail', 'bad', { failhard: true }),
      low('t.ok', 'never'),
    ];

    expect(await reactions(new Set(), chunks)).toEqual(['listener_web']);
  });

  test('owed by an earlier run it still happens, once', async () => {
    const owed = new Set([`listen:${lowTag(listener)}`]);

    expect(await reactions(owed, [low('t.ok', 'conf'), listener])).toEqual(['listener_web']);
    expect(await reactions(owed, [low('t.ok', 'conf'), listener])).toEqual([]);
  });

  test('is owed from the change on, until it has happened', async () => {
    const owed = new Set<string>();
    await runEngine([low('t.changes', 'conf'), listener], {
      stopAfter: 1,
      pending: pendingIn(owed),
    });

    expect([...owed]).toEqual([`listen:${lowTag(listener)}`]);
  });

  test('to nothing is an error of its own', async () => {
    const { results } = await runEngine([low('t.ok', 'x', { listen: [{ t: 'gone' }] })]);

    expect(results['Listen_Error_|-listen_gone_|-listen_t_|-Listen_Error']).toMatchObject({
      result: false,
      comment: 'Referenced state t: gone does not exist',
    });
  });
});

describe('the umask of a state', () => {
  test("is the process's while it runs, never beside others, and is put back", async () => {
    const before = process.umask();
    const seen: number[] = [];
    const table = {
      state: {
        'mask.see': {
          params: 'name',
          run: async ({ name }: { name?: unknown }) => {
            seen.push(process.umask());
            return { name, changes: {}, result: true, comment: '' };
          },
        },
      },
    };

    await runEngine(
      [
        low('t.slow', 'slow', { parallel: true }),
        low('mask.see', 'own', { umask: '077', parallel: true }),
        low('mask.see', 'after'),
      ],
      { table },
    );

    expect(seen).toEqual([0o077, before]);
    expect(process.umask()).toBe(before);
  });

  test('fails the state for a malformed slot', async () => {
    expect(await result([low('t.ok', 'x', { umask: '9x' })])).toEqual({
      x: 'false: Invalid umask: 9x\n',
    });
  });
});

describe('quick checks', () => {
  /** Runs states `quick.file`, whose check knows nothing of states with `hard`, and returns what was asked and called. */
  const quickly = async (chunks: readonly LowChunk[], opts: PlainDict = {}) => {
    const steps: string[] = [];
    const run = await runEngine(chunks, {
      opts,
      table: {
        exec: { 'my.echo': { params: 'text', run: async ({ text }) => text } },
        state: {
          'quick.file': {
            params: 'name, hard?, changes?, text?',
            quickCheck: ({ name, hard }, { env, test: inTest }) => {
              steps.push(`check ${name}`);
              if (hard === 'broken') throw new Error('no such account file');
              if (hard === 'new' || hard === 'full')
                return () => {
                  steps.push(`make ${__low__.name} in ${getContext().env}`);
                  if (hard === 'full') throw new Error('the disk is full');
                  return { name: String(name), changes: { new: 1 }, result: true, comment: 'made' };
                };
              return hard ? undefined : `seen in ${env}, ${inTest}`;
            },
            run: async ({ name, changes = {} }) => {
              steps.push(`call ${name}`);
              return { name, changes, result: true, comment: 'called' };
            },
          },
          'quick.mod_watch': {
            params: 'name, sfun',
            run: async ({ name }) => ({ name, changes: {}, result: true, comment: 'reacted' }),
          },
        },
      },
    });
    return { ...run, steps };
  };

  test('answer for the function, with all that a result has', async () => {
    const chunk = low('quick.file', 'a', { __sls__: 'web', __env__: 'dev', require: [{ t: 'b' }] });
    const { results, steps } = await quickly([chunk, low('t.ok', 'b')]);

    expect(steps).toEqual(['check a']);
    const [ok, quick] = Object.values(results);
    expect(quick).toEqual({
      ...ok,
      name: 'a',
      comment: 'seen in dev, false',
      __id__: 'a',
      __sls__: 'web',
      __run_num__: 1,
      start_time: expect.stringMatching(/^\d\d:\d\d:\d\d\.\d{6}$/),
      duration: expect.any(Number),
    });
    expect(Object.keys(quick ?? {}).sort()).toEqual(Object.keys(ok ?? {}).sort());
  });

  test('are told of test mode', async () => {
    const { results } = await quickly([low('quick.file', 'a')], { test: true });

    expect(Object.values(results)).toMatchObject([{ comment: 'seen in base, true' }]);
  });

  test('do not keep a state from reacting', async () => {
    const run = await quickly([
      low('t.changes', 'conf'),
      low('quick.file', 'a', { watch: [{ t: 'conf' }] }),
    ]);

    expect(run.steps).toEqual(['check a']);
    expect(outcomes(run)).toMatchObject({ a: 'true: reacted' });
  });

  test.each<[string, PlainDict, PlainDict?]>([
    ['a condition', { onlyif: 'true' }],
    ['a command that checks', { check_cmd: 'true' }],
    ['a slot', { text: '__slot__:salt:my.echo(x)' }],
    ['parallel', { parallel: true }],
    ['conditions of the host', {}, { global_state_conditions: { '*': ['*'] } }],
  ])('are not asked where there is more to do: %s', async (_, own, opts) => {
    const { steps } = await quickly([low('quick.file', 'a', own)], opts);

    expect(steps).not.toContain('check a');
  });

  test('are not asked in the rehearsal for a prereq', async () => {
    const { steps } = await quickly([
      low('t.ok', 'before', { prereq: [{ quick: 'a' }] }),
      low('quick.file', 'a', { prerequired: [{ t: 'before' }] }),
    ]);

    expect(steps).toEqual(['call a', 'check a']);
  });

  test('leave the state to its function where they fail', async () => {
    const { steps, results } = await quickly([low('quick.file', 'a', { hard: 'broken' })]);

    expect(steps).toEqual(['check a', 'call a']);
    expect(Object.values(results)).toMatchObject([{ result: true, comment: 'called' }]);
  });

  test('may do the work, in the context of the state', async () => {
    const { steps, results } = await quickly([
      low('quick.file', 'a', { hard: 'new', __env__: 'dev' }),
      low('quick.file', 'b', { hard: 'new' }),
      low('quick.file', 'c'),
    ]);

    expect(steps).toEqual(['check a', 'make a in dev', 'check b', 'make b in base', 'check c']);
    expect(Object.values(results)).toMatchObject([
      {
        name: 'a',
        changes: { new: 1 },
        result: true,
        comment: 'made',
        __id__: 'a',
        __run_num__: 0,
      },
      { name: 'b', comment: 'made' },
      { name: 'c', changes: {}, comment: 'seen in base, false' },
    ]);
  });

  test('leave the state to its function where the work fails', async () => {
    const { steps, results } = await quickly([
      low('quick.file', 'a', { hard: 'full' }),
      low('quick.file', 'b', { hard: 'new' }),
    ]);

    expect(steps).toEqual(['check a', 'make a in base', 'call a', 'check b', 'make b in base']);
    expect(Object.values(results)).toMatchObject([{ comment: 'called' }, { comment: 'made' }]);
  });

  test('do not do the work of a state with a mask of its own', async () => {
    const { steps } = await quickly([low('quick.file', 'a', { hard: 'new', umask: '077' })]);

    expect(steps).toEqual(['check a', 'call a']);
  });

  test('are not asked after one that did not know, until the function finds nothing to do', async () => {
    const changing = { hard: true, changes: { new: 1 } };
    const { steps } = await quickly([
      low('quick.file', 'a'),
      low('quick.file', 'b', changing),
      low('quick.file', 'c', changing),
      low('quick.file', 'd'),
      low('quick.file', 'e'),
    ]);

    expect(steps).toEqual(['check a', 'check b', 'call b', 'call c', 'call d', 'check e']);
  });
});

test('states that wait for nothing do not keep the runtime from other work', {
  tags: 'slow',
}, async () => {
  let ticks = 0;
  const timer = setInterval(() => {
    ticks += 1;
  }, 1);
  // They take several turns on fast machines too.
  await runEngine(Array.from({ length: 40_000 }, (_, at) => low('t.give', `x${at}`, { ret: {} })));
  clearInterval(timer);
  expect(ticks).toBeGreaterThanOrEqual(3);
});
