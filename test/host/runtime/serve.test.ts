import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import type { CallResult, RunResult } from '../../../src/protocol/job.ts';
import type { LowChunk } from '../../../src/protocol/low.ts';
import type { PlainDict } from '../../../src/protocol/plain.ts';
import {
  type HostProcess,
  low,
  makeDir,
  opts,
  startHost,
} from '../../runtime/helpers/host-process.ts';

const hosts: HostProcess[] = [];
const start = (...args: Parameters<typeof startHost>): HostProcess => {
  const host = startHost(...args);
  hosts.push(host);
  return host;
};
afterEach(async () => {
  for (const host of hosts.splice(0)) {
    host.hangUp();
    await host.exited;
  }
});

const journalsIn = (dir: string): string[] =>
  readdirSync(dir).filter(name => name.startsWith('reactions.'));

const call = (host: HostProcess, fun: string, args: unknown[] = [], kwargs: PlainDict = {}) =>
  host.peer.request<CallResult>('call', { fun, args, kwargs, opts });

describe('the runtime on its wire', () => {
  test('says hello with its grains before anything else', async () => {
    const hello = await start(makeDir()).hello;

    expect(hello).toMatchObject({
      protocol: 1,
      node: process.version,
      user: 'me',
      grains: { os: 'Debian' },
    });
  });

  test('collects grains once, when something needs them, where they can wait', async () => {
    const host = start(makeDir(), {}, 'lazy');
    const early = host.peer.request<CallResult>('call', {
      ...{ fun: 'test.grain', args: ['gathered'], kwargs: {}, opts },
      needsNoGrains: true,
    });

    expect((await host.hello).grains).toBeNull();
    expect((await early).value).toBeNull();
    expect((await call(host, 'test.grain', ['gathered'])).value).toBe(1);
    expect(await host.peer.request('grains', {})).toMatchObject({ os: 'Debian', gathered: 1 });
    expect((await call(host, 'test.grain', ['gathered'])).value).toBe(1);
  });

  const lastCall = (host: HostProcess, fun: string, args: unknown[]): Promise<CallResult> =>
    host.peer.request<CallResult>('call', {
      ...{ fun, args, kwargs: {}, opts },
      needsNoGrains: true,
      isLast: true,
    });

  test('ends after the answer to a last call that needs no time, without being told', async () => {
    const host = start(makeDir(), {}, 'lazy');

    expect(await lastCall(host, 'test.echo', ['hi'])).toEqual({ value: 'hi', retcode: 0 });
    expect(await host.exited).toBe(0);
    expect(host.child.stdin?.writableEnded).toBe(false);
  });

  test.each([
    ['takes time', 'test.later', 'hi'],
    ['is long', 'test.echo', 'x'.repeat(300_000)],
  ])('answers a last call that %s, and ends', async (_, fun, text) => {
    const host = start(makeDir(), {}, 'lazy');

    expect(await lastCall(host, fun, [text])).toEqual({ value: text, retcode: 0 });
    expect(await host.exited).toBe(0);
  });

  test('says all of a long answer to a last call before it ends', async () => {
    const host = start(makeDir(), {}, 'lazy');
    const { value } = await lastCall(host, 'test.repeat', [300_000]);

    expect(value).toBe('x'.repeat(300_000));
    expect(await host.exited).toBe(0);
  });

  test('a signal ends it while it waits for its call', async () => {
    const host = start(makeDir(), {}, 'lazy');
    await sleep(1000); // It says nothing by which one could know that it waits.
    host.child.kill('SIGTERM');

    expect(await host.exited).toBeNull();
  });

  test('a signal ends it while it waits for its first request', async () => {
    const host = start(makeDir());
    await host.hello;
    host.child.kill('SIGTERM');

    expect(await host.exited).toBeNull();
  });

  describe('in a last run', () => {
    const lastRun = (
      host: HostProcess,
      chunks: readonly LowChunk[],
      more: PlainDict = {},
    ): Promise<RunResult> =>
      host.peer.request<RunResult>('run', { chunks, opts, isLast: true, ...more });

    test('ends after the answer, without being told', async () => {
      const host = start(makeDir());
      await host.hello;

      expect(await lastRun(host, [low('test.nop', 'a')])).toEqual({ retcode: 0 });
      expect(host.finished).toMatchObject([{ result: { result: true } }]);
      expect(await host.exited).toBe(0);
      expect(host.child.stdin?.writableEnded).toBe(false);
    });

    test('ends after the answer to one that takes longer than it does not listen', async () => {
      const host = start(makeDir());

      expect(await lastRun(host, [low('cmd.run', 'sleep 0.2')])).toEqual({ retcode: 0 });
      expect(await host.exited).toBe(0);
    });

    test('asks the control node, and hears the answer', async () => {
      const host = start(makeDir(), { 'state.decide': async () => true });
      const run = lastRun(host, [low('cmd.run', 'true')], { step: true });

      expect(await run).toEqual({ retcode: 0 });
      expect(host.finished).toMatchObject([{ result: { comment: 'exit 0' } }]);
      expect(await host.exited).toBe(0);
    });

    test('is cancelled like any other', async () => {
      const host = start(makeDir());
      const run = lastRun(host, [low('cmd.run', 'sleep 60'), low('test.nop', 'after')]);
      await expect.poll(() => host.started).toHaveLength(1);
      await host.peer.request('cancel', {});

      expect(await run).toMatchObject({ aborted: 'The run was stopped before its last state.' });
      expect(host.finished).toHaveLength(1);
    });

    test('lets its state finish when the link is lost, and starts no other', async () => {
      const dir = makeDir();
      const host = start(dir);
      const file = join(dir, 'done');
      const chunks = [low('cmd.run', `sleep 0.5; touch ${file}`), low('cmd.run', 'sleep 60')];
      lastRun(host, chunks).catch(() => undefined);
      await expect.poll(() => host.started).toHaveLength(1);
      host.hangUp();

      expect(await host.exited).toBe(0);
      expect(existsSync(file)).toBe(true);
    });

    test('serves on where a state waits for a restart of the host', async () => {
      const host = start(makeDir());
      const { restart } = await lastRun(host, [low('test.restarts', 'a')]);

      expect(restart).toMatchObject({ boot: 'b' });
      expect(await call(host, 'test.echo', ['more'])).toEqual({ value: 'more', retcode: 0 });
    });
  });

  test('answers a call that was sent before it said hello', async () => {
    expect(await call(start(makeDir()), 'test.echo', ['hi'])).toEqual({ value: 'hi', retcode: 0 });
  });

  test('passes on the return code that a function leaves', async () => {
    expect(await call(start(makeDir()), 'test.retcode', [3])).toEqual({
      value: 'left',
      retcode: 3,
    });
  });

  test('says that a function is not there', async () => {
    await expect(call(start(makeDir()), 'no.such')).rejects.toThrow("'no.such' is not available.");
  });

  test('lets grains of the roster win', async () => {
    const host = start(makeDir());

    const answer = await host.peer.request<CallResult>('call', {
      fun: 'test.grain',
      args: ['os'],
      kwargs: {},
      opts: { ...opts, grains: { os: 'Own' } },
    });

    expect(answer.value).toBe('Own');
  });

  test('turns what a module prints into log lines', async () => {
    const host = start(makeDir());

    await call(host, 'test.noise');

    expect(host.logs.map(({ message }) => message)).toEqual(['to the console', 'to stdout']);
  });

  test('a module that crashes the process ends in an answer with the reason', async () => {
    const host = start(makeDir());

    await expect(call(host, 'test.crash')).rejects.toThrow('boom from a timer');
    expect(await host.exited).toBe(70);
  });

  test('streams every state and its start while the run goes on', async () => {
    const host = start(makeDir());

    const result = await host.peer.request<RunResult>('run', {
      chunks: [low('test.changes', 'x'), low('test.nop', 'y', { require: [{ test: 'x' }] })],
      opts,
    });

    expect(result).toEqual({ retcode: 0 });
    expect(host.started.map(({ id }) => id)).toEqual(['x', 'y']);
    expect(host.finished.map(({ tag, result: { changes } }) => [tag, changes])).toEqual([
      ['test_|-x_|-x_|-changes', { did: 'x' }],
      ['test_|-y_|-y_|-nop', {}],
    ]);
  });

  test('the start of a state comes with its end, or before it if the state takes more than a turn', async () => {
    const dir = makeDir();
    const host = start(dir);
    const run = host.peer.request<RunResult>('run', {
      chunks: [
        low('test.nop', 'quick'),
        low('cmd.run', 'slow', { name: `until [ -e ${dir}/go ]; do sleep 0.05; done` }),
        low('test.nop', 'last'),
      ],
      opts,
    });

    while (host.started.length < 2) await sleep(20);
    expect(host.started.map(({ id }) => id)).toEqual(['quick', 'slow']);
    expect(host.finished.map(({ tag }) => tag)).toEqual(['test_|-quick_|-quick_|-nop']);
    writeFileSync(join(dir, 'go'), '');
    await run;

    expect(host.joined).toEqual(['test_|-quick_|-quick_|-nop', 'test_|-last_|-last_|-nop']);
    expect(host.started.map(({ id, fun, name }) => [id, fun, name])).toEqual([
      ['quick', 'test.nop', 'quick'],
      ['slow', 'cmd.run', `until [ -e ${dir}/go ]; do sleep 0.05; done`],
      ['last', 'test.nop', 'last'],
    ]);
  });

  test.each([false, true])(
    'arguments that a function does not know fail its state alone: test=%s',
    async isTest => {
      const host = start(makeDir());

      const { retcode } = await host.peer.request<RunResult>('run', {
        chunks: [
          low('test.nop', 'first'),
          low('test.strict', 'x', { bogus: 1, odd: 2, retry: { attempts: 3 } }),
          low('test.nop', 'needs', { require: [{ test: 'x' }] }),
          low('test.nop', 'last'),
        ],
        opts: { ...opts, test: isTest },
      });

      expect(retcode).not.toBe(0);
      const results = host.finished.map(({ result }) => result.result);
      expect(results).toEqual([true, false, false, true]);
      expect(host.finished[1]?.result.comment).toBe(
        "'bogus' and 'odd' are invalid keyword arguments for 'test.strict'.",
      );
    },
  );

  test.each(['watch', 'listen'])(
    'a mod_watch that does not take sfun fails its state alone: %s',
    async kind => {
      const host = start(makeDir());

      await host.peer.request('run', {
        chunks: [
          low('test.changes', 'conf'),
          low('narrow.nop', 'reacts', { [kind]: [{ test: 'conf' }] }),
          low('test.nop', 'last'),
        ],
        opts,
      });

      const failed = host.finished.filter(({ result }) => result.result === false);
      expect(failed.map(({ result }) => result.__id__ ?? result.name)).toEqual(['reacts']);
      expect(failed[0]?.result.comment).toContain(
        "'sfun' is an invalid keyword argument for 'narrow.mod_watch'. mod_watch is called with",
      );
      expect(host.finished.map(({ tag }) => tag)).toContain('test_|-last_|-last_|-nop');
    },
  );

  test('no_log keeps results off the wire, but not from requisites', async () => {
    const host = start(makeDir());

    await host.peer.request('run', {
      chunks: [
        low('test.changes', 'secret', { no_log: true }),
        low('test.changes', 'after', { onchanges: [{ test: 'secret' }] }),
      ],
      opts,
    });

    expect(JSON.stringify(host.finished[0]?.result.changes)).not.toContain('did');
    expect(host.finished[0]?.result.comment).toContain('no_log');
    expect(host.finished[1]?.result.changes).toEqual({ did: 'after' });
  });

  test('reload_grains and reload_pillar reach the states after', async () => {
    const asked: string[] = [];
    const host = start(makeDir(), {
      'control.call': ({ fun }: { fun: string }) => {
        asked.push(fun);
        return fun === 'pillar.items' ? { k: 'new' } : true;
      },
    });

    await host.peer.request('run', {
      chunks: [
        low('test.knows', 'before', { reload_grains: true, reload_pillar: true }),
        low('test.knows', 'after'),
      ],
      opts,
      pillar: { k: 'old' },
    });

    expect(host.finished.map(({ result }) => result.comment)).toEqual([
      'grains 1, pillar old',
      'grains 2, pillar new',
    ]);
    expect(asked).toEqual(['saltutil.refresh_pillar', 'pillar.items']);
  });

  test('fire_event names the event that goes with the result', async () => {
    const host = start(makeDir());

    await host.peer.request('run', {
      chunks: [
        low('test.nop', 'x', { fire_event: true }),
        low('test.nop', 'y', { fire_event: 'my/tag' }),
        low('test.nop', 'z'),
      ],
      opts,
      job: '20261121223400000000',
    });

    expect(host.finished.map(({ event }) => event)).toEqual([
      'salt/state_result/20261121223400000000/h/x',
      'salt/state_result/20261121223400000000/h/my/tag',
      undefined,
    ]);
  });

  test('cancel ends what runs, with its children', async () => {
    const dir = makeDir();
    const host = start(dir);
    const pidFile = join(dir, 'pid');
    const run = host.peer.request<RunResult>('run', {
      chunks: [
        low('cmd.run', 'long', { name: `echo $$ > ${pidFile}; sleep 60` }),
        low('test.nop', 'y'),
      ],
      opts,
    });
    while (!existsSync(pidFile) || readFileSync(pidFile, 'utf8') === '') await sleep(20);

    await host.peer.request('cancel', {});

    expect((await run).aborted).toContain('stopped');
    expect(host.finished.map(({ result }) => result.result)).toEqual([false]);
    expect(() => process.kill(Number(readFileSync(pidFile, 'utf8')), 0)).toThrow();
  });

  test('a function that begins a command whenever one is ended leaves none behind', async () => {
    const dir = makeDir();
    const host = start(dir);
    const file = join(dir, 'pids');
    const pids = (): number[] =>
      existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').map(Number) : [];
    const call = { fun: 'cmd.endless', args: [], kwargs: { file }, opts };
    host.peer.request('call', call).catch(() => {});
    while (pids().length === 0) await sleep(20);

    await host.peer.request('cancel', {});
    host.hangUp();
    await host.exited;

    await sleep(300);
    expect(pids().length).toBeGreaterThan(1);
    const lives = (pid: number): boolean =>
      existsSync(`/proc/${pid}`) &&
      !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
    expect(pids().filter(lives)).toEqual([]);
  });

  test('a lost link lets the running state finish, starts no other and informs the next run', async () => {
    const dir = makeDir();
    const first = start(dir);
    const mark = join(dir, 'mark');
    first.peer
      .request('run', {
        chunks: [
          low('cmd.run', 'slow', { name: `touch ${mark}.begun; sleep 0.5; touch ${mark}.done` }),
          low('cmd.run', 'next', { name: `touch ${mark}.next` }),
        ],
        opts,
      })
      .catch(() => {});
    while (!existsSync(`${mark}.begun`)) await sleep(20);
    first.hangUp();
    await first.exited;

    const second = start(dir);
    await second.peer.request('run', { chunks: [low('test.nop', 'y')], opts });

    expect(existsSync(`${mark}.done`)).toBe(true);
    expect(existsSync(`${mark}.next`)).toBe(false);
    expect(second.logs.map(({ message }) => message).join()).toContain('connection was lost');
    expect(existsSync(join(dir, 'lost-run.json'))).toBe(false);
  });
});

test('a state outlives a lost link by more than 10 s, the next run is refused, SIGTERM ends it', {
  tags: 'slow',
  timeout: 60_000,
}, async () => {
  const dir = makeDir();
  const mark = join(dir, 'mark');
  const begin = async (seconds: number): Promise<HostProcess> => {
    const host = start(dir);
    host.peer
      .request('run', {
        chunks: [
          low('cmd.run', 'slow', {
            name: `touch ${mark}.begun${seconds}; sleep ${seconds}; touch ${mark}.done${seconds}`,
          }),
        ],
        opts,
      })
      .catch(() => {});
    while (!existsSync(`${mark}.begun${seconds}`)) await sleep(20);
    host.hangUp();
    return host;
  };
  const first = await begin(13);
  while (!readFileSync(join(dir, 'run.lock'), 'utf8').includes('finishing')) await sleep(20);

  const second = start(dir);
  await expect(
    second.peer.request('run', { chunks: [low('test.nop', 'y')], opts }),
  ).rejects.toThrow(/connection was lost, and it still finishes slow \(cmd\.run\)/);
  const third = start(dir);
  await third.peer.request('run', { chunks: [low('test.nop', 'y')], opts, queue: true });
  expect(existsSync(`${mark}.done13`)).toBe(true);
  expect(await first.exited).toBe(0);

  const stuck = await begin(600);
  while (!readFileSync(join(dir, 'run.lock'), 'utf8').includes('finishing')) await sleep(20);
  stuck.child.kill('SIGTERM');
  await stuck.exited;
  expect(existsSync(`${mark}.done600`)).toBe(false);
});

describe('the lock of a host', () => {
  /** A run that lasts until it is let go. */
  const slow = (dir: string) => [
    low('cmd.run', 'slow', {
      name: `until [ -e ${dir}/go ]; do sleep 0.05; done; echo first >>${dir}/order`,
    }),
  ];
  /** A run that notes when it has its turn: answers of several processes may come in any order. */
  const noting = (dir: string, word: string) => [
    low('cmd.run', word, { name: `echo ${word} >>${dir}/order` }),
  ];
  const orderIn = (dir: string): string[] =>
    readFileSync(join(dir, 'order'), 'utf8').trim().split('\n');
  const letGo = (dir: string): void => writeFileSync(join(dir, 'go'), '');

  test('refuses a second run and names the first', async () => {
    const dir = makeDir();
    const [first, second] = [start(dir), start(dir)];
    const running = first.peer.request<RunResult>('run', {
      chunks: slow(dir),
      opts,
      fun: 'state.apply',
    });
    while (first.started.length === 0) await sleep(10);

    const refused = second.peer.request('run', { chunks: [low('test.nop', 'x')], opts });
    await expect(refused.finally(() => letGo(dir))).rejects.toThrow(
      `"state.apply" is running as PID ${first.child.pid}`,
    );
    expect((await running).retcode).toBe(0);
  });

  test('queue waits for the first run, concurrent does not', async () => {
    const dir = makeDir();
    const [first, second, third] = [start(dir), start(dir), start(dir)];
    const running = first.peer.request<RunResult>('run', { chunks: slow(dir), opts });
    while (first.started.length === 0) await sleep(10);

    await Promise.all([
      running,
      second.peer.request('run', { chunks: noting(dir, 'queued'), opts, queue: true }),
      third.peer
        .request('run', { chunks: noting(dir, 'concurrent'), opts, concurrent: true })
        .then(() => letGo(dir)),
    ]);

    expect(orderIn(dir)).toEqual(['concurrent', 'first', 'queued']);
  });

  test('two names of one host in one job take turns; another job is refused', async () => {
    const dir = makeDir();
    const [first, second, third] = [start(dir), start(dir), start(dir)];
    const running = first.peer.request<RunResult>('run', { chunks: slow(dir), opts, job: '1' });
    while (first.started.length === 0) await sleep(10);

    const [, { retcode }] = await Promise.all([
      running,
      second.peer.request<RunResult>('run', { chunks: noting(dir, 'second'), opts, job: '1' }),
      expect(third.peer.request('run', { chunks: noting(dir, 'third'), opts, job: '2' }))
        .rejects.toThrow(/is running as PID/)
        .then(() => letGo(dir)),
    ]);

    expect(retcode).toBe(0);
    expect(orderIn(dir)).toEqual(['first', 'second']);
  });

  test('a lock whose process is gone is taken over', async () => {
    const dir = makeDir();
    const stale = { pid: process.pid, begun: '1', fun: 'state.apply', since: 'long ago' };
    writeFileSync(join(dir, 'run.lock'), JSON.stringify(stale));

    const result = start(dir).peer.request<RunResult>('run', {
      chunks: [low('test.nop', 'x')],
      opts,
    });

    await expect(result).resolves.toEqual({ retcode: 0 });
  });
});

describe('pending reactions', () => {
  const chunks = [
    low('test.changes', 'conf'),
    low('cmd.run', 'between', { name: 'false', failhard: true }),
    low('service.running', 'web', { watch: [{ test: 'conf' }] }),
  ];
  const quiet = [
    low('test.nop', 'conf'),
    low('service.running', 'web', { watch: [{ test: 'conf' }] }),
  ];

  test('a run that ends before the watcher leaves its reaction to the next run, once', async () => {
    const dir = makeDir();
    const host = start(dir);
    const run = async (list: typeof chunks, more: PlainDict = {}): Promise<number> => {
      host.finished.length = 0;
      await host.peer.request('run', { chunks: list, opts: { ...opts, ...more } });
      return host.finished.filter(({ result }) => result.comment === 'restarted').length;
    };

    expect(await run(chunks)).toBe(0);
    const [journal = ''] = journalsIn(dir);
    expect(statSync(join(dir, journal)).mode & 0o777).toBe(0o600);

    expect(await run(quiet, { test: true })).toBe(1); // said, not done
    expect(journalsIn(dir)).toEqual([journal]);

    expect(await run(quiet)).toBe(1);
    expect(await run(quiet)).toBe(0);
    expect(journalsIn(dir)).toEqual([]);
  });
});
