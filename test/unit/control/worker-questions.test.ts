import { expect, test } from 'vitest';
import { WorkerRuns } from '../../../src/control/fleet/worker-runs.ts';
import type { FromFleetWorker, ToFleetWorker } from '../../../src/control/workers/messages.ts';
import type { PoolWorker } from '../../../src/control/workers/pool.ts';
import { sendHost } from '../../../src/control/workers/sent-request.ts';
import type { RunEvent } from '../../../src/protocol/event.ts';
import { type Host, Secret } from '../../../src/protocol/host.ts';
import { pack } from '../../../src/render/confined/wire.ts';

const host = (id: string): Host => ({
  id,
  host: id,
  user: 'root',
  port: 22,
  timeout: 30,
  minion_opts: {},
  grains: {},
});
const [web, db, far] = [host('web1'), host('db1'), host('far1')];

/** A value of so many levels. */
const nested = (levels: number): unknown => {
  let deep: unknown = 1;
  for (let level = 0; level < levels; level += 1) deep = [deep];
  return deep;
};

type Ask = (method: string, ...params: unknown[]) => Promise<unknown>;

/**
 * Runs web1 by one worker and db1 by another; the first does what `work` says, and both end well.
 *
 * @returns the events of the run
 */
const prompts: string[] = [];

const answerOfDb = { id: 'db1', fun: 'mine.value', value: 'from db1' as unknown, retcode: 0 };

const runWith = async (
  isElsewhere: boolean,
  work: (ask: Ask, say: (message: FromFleetWorker) => void) => Promise<void>,
  answer: object = answerOfDb,
): Promise<RunEvent[]> => {
  const events: RunEvent[] = [];
  const asked: string[] = [];
  const works: Promise<void>[] = [];
  const request = {
    fun: 'test.ping',
    kwargs: new Map([['pillar', new Map([['role', 'web']])]]),
    config: {
      options: new Map(),
      nodegroups: {},
      mine_reach: 'run',
      mine_missing: 'error',
      mine_timeout: 60,
      minion_data_cache: false,
      ssh_minion_opts: {},
      grains: {},
    },
    options: {},
    hosts: [web, db, far],
    ask: async ({ prompt }: { prompt: string }) => {
      prompts.push(prompt);
      return new Secret('typed');
    },
    prepareHost: async (one: Host) => ({ ...one, passwd: new Secret(`password of ${one.id}`) }),
    sdb: { get: async () => 'value of a store' },
  };
  const parts = {
    shared: { request, emit: (event: RunEvent) => void events.push(event) },
    targets: { undecided: new Set(), hosts: [web, db] },
    signal: new AbortController().signal,
  } as unknown as ConstructorParameters<typeof WorkerRuns>[0];
  const runs = new WorkerRuns(parts, ears => {
    const answers = new Map<number, (answer: unknown) => void>();
    const workerOf = (act: (message: ToFleetWorker & { type: 'host' }) => void): PoolWorker => ({
      isElsewhere,
      sendHost,
      send: message => {
        if (message.type === 'host') act(message);
        if (message.type === 'answer') answers.get(message.id)?.(message.answer);
      },
    });
    const workers = {
      web1: workerOf(({ id }) => {
        let question = 0;
        const ask: Ask = (method, ...params) =>
          new Promise((resolve, reject) => {
            question += 1;
            asked.push(method);
            answers.set(question, answer => {
              const { value, fault } = answer as { value?: unknown; fault?: { message: string } };
              if (fault) reject(new Error(fault.message));
              else resolve(value);
            });
            ears.hear(workers.web1, { type: 'ask', id: question, method, params });
          });
        const working = work(ask, message => ears.hear(workers.web1, message));
        works.push(working);
        const end = (): void => ears.hear(workers.web1, { type: 'done', id, value: true });
        working.then(end, end);
      }),
      // Its host is at work until the end, and answers questions of others.
      db1: workerOf(({ id, task }) => {
        if (task.do === 'check') ears.hear(workers.db1, { type: 'done', id, value: answer });
        else setTimeout(() => ears.hear(workers.db1, { type: 'done', id, value: true }), 100);
      }),
    };
    return {
      take: async ({ id }) => workers[id as 'web1' | 'db1'],
      left: () => undefined,
      abort: () => undefined,
      close: async () => undefined,
    };
  });
  await Promise.all([runs.one(db), runs.one(web)]);
  await runs.close();
  // Rejects if an expectation of `work` does not hold.
  await Promise.all(works);
  return events;
};

test('a worker elsewhere asks for its own hosts only', async () => {
  let own: unknown;
  await runWith(true, async ask => {
    own = await ask('prepare', 'web1');
    await expect(ask('prepare', 'db1')).rejects.toThrow(/A worker asked for prepare/);
    await expect(ask('pillar', 'db1', { grains: {} })).rejects.toThrow(/A worker asked for pillar/);
    await expect(ask('prepare', 'nobody')).rejects.toThrow(/A worker asked for prepare/);
  });
  expect(own).toMatchObject({ id: 'web1', secrets: { passwd: 'password of web1' } });
});

test('a worker elsewhere asks no store', async () => {
  const refused: unknown[] = [];
  const get = ['get', JSON.stringify(['sdb://store/key', false])];
  await runWith(true, async ask => {
    for (const method of ['sdb', 'vault'])
      await ask(method, ...get).catch((error: unknown) => refused.push(String(error)));
  });
  expect(refused).toEqual([
    expect.stringContaining('A worker asked for sdb'),
    expect.stringContaining('A worker asked for vault'),
  ]);
  let here: unknown;
  await runWith(false, async ask => {
    here = await ask('sdb', ...get);
  });
  expect(here).toBe('"value of a store"');
});

test('a worker elsewhere asks other hosts in the name of its own, without arguments, and not without end', async () => {
  const question = { tgt: 'db1', tgt_type: 'glob', fun: 'address', isEarly: false };
  await runWith(true, async ask => {
    await expect(ask('mine', 'web1', question)).resolves.toEqual([['db1', 'from db1']]);
    await expect(ask('mine', 'db1', question)).rejects.toThrow('asked what it may not ask');
    for (const wrong of [null, { ...question, tgt: 1 }, { ...question, fun: ['address'] }])
      await expect(ask('mine', 'web1', wrong)).rejects.toThrow('asked what it may not ask');
    const args = pack(['other']);
    await expect(ask('mine', 'web1', { ...question, args })).rejects.toThrow(
      'with the arguments that mine_functions list',
    );
    for (let more = 2; more < 200; more += 1) await ask('mine', 'web1', question);
    await expect(ask('mine', 'web1', question)).rejects.toThrow('more than 200 times');
  });
  // A process of this machine is trusted with arguments.
  await runWith(false, async ask => {
    const given = { ...question, asker: 'web1', args: pack(['other']) };
    await expect(ask('mine', 'web1', given)).resolves.toEqual([['db1', 'from db1']]);
  });
});

test('a worker elsewhere does not learn which hosts are outside of the run', async () => {
  const said: string[] = [];
  const events = await runWith(true, async ask => {
    const question = { tgt: '*', tgt_type: 'glob', fun: 'address', isEarly: false };
    await ask('mine', 'web1', question).catch((error: Error) => said.push(error.message));
  });
  expect(said).toEqual([expect.stringContaining('hosts that are not part of this run.')]);
  expect(said.join('')).not.toContain('far1');
  expect(events).toContainEqual(
    expect.objectContaining({ type: 'log', message: expect.stringContaining('far1') }),
  );
});

test.each<[string, object]>([
  ['of 1000 levels', { ...answerOfDb, value: nested(1000) }],
  ['without a retcode', { ...answerOfDb, retcode: undefined }],
])('an answer of a worker elsewhere %s is refused', async (_, answer) => {
  const said: unknown[] = [];
  const events = await runWith(
    true,
    async ask => {
      const question = { tgt: 'db1', tgt_type: 'glob', fun: 'address', isEarly: false };
      said.push(await ask('mine', 'web1', question).catch((error: Error) => error.message));
    },
    answer,
  );
  expect(said).toEqual([expect.stringContaining('of hosts that did not respond.')]);
  expect(events).toContainEqual(
    expect.objectContaining({
      message: expect.stringContaining('a result of a worker that does not hold what it must'),
    }),
  );
});

test('results of other hosts are dropped', async () => {
  const result = { fun: 'test.ping', value: true, retcode: 0 };
  const events = await runWith(true, async (_, say) => {
    say({ type: 'event', event: { type: 'host', result: { ...result, id: 'db1' } } });
    say({ type: 'event', event: { type: 'host', result: { ...result, id: 'web1' } } });
    say({ type: 'event', event: { type: 'phase', host: 'db1', phase: 'done' } });
    say({ type: 'event', event: { type: 'end' } });
    say({ type: 'event', event: { type: 'start', hosts: ['db1'], fun: 'x.y' } });
    // The number of a host of another worker.
    say({ type: 'done', id: 1, value: true });
  });
  expect(events).toEqual([{ type: 'host', result: { ...result, id: 'web1' } }]);
});

test('a worker elsewhere asks the person in its own name, for its hosts, and not without end', async () => {
  prompts.length = 0;
  const prompt = 'Passphrase of /home/me/.ssh/id_ed25519:\nPassword of root:';
  const asked = { host: 'web1', what: 'passphrase', prompt };
  await runWith(true, async ask => {
    await expect(ask('ask', asked)).resolves.toBe('typed');
    for (const wrong of [
      null,
      { ...asked, host: 'db1' },
      { ...asked, what: 'x' },
      { ...asked, prompt: 1 },
    ])
      await expect(ask('ask', wrong)).rejects.toThrow('A worker asked what it may not ask.');
    for (let more = 0; more < 11; more += 1) await ask('ask', { ...asked, prompt: 'x' });
    await expect(ask('ask', asked)).rejects.toThrow('more than 12 questions');
  });
  expect(prompts[0]).toMatch(/^The worker of another machine asks for web1: Passphrase of /);
  expect(prompts).toHaveLength(12);
});

test('a worker elsewhere gets no passphrase that was typed for a process of this machine', async () => {
  prompts.length = 0;
  const asked = { host: 'web1', what: 'passphrase', prompt: 'Passphrase of KEY:' };
  for (const isElsewhere of [false, true])
    await runWith(isElsewhere, async ask => {
      await ask('ask', asked);
      await ask('ask', asked);
    });
  // Here it is asked once; each question of the other is put to the person.
  expect(prompts).toHaveLength(3);
});

test('a worker elsewhere lays nothing over the pillar that the command line does not', async () => {
  await runWith(true, async ask => {
    const question = { grains: {}, answers: {}, override: pack(new Map([['role', 'db']])) };
    await expect(ask('pillar', 'web1', question)).rejects.toThrow(
      'A worker elsewhere lays nothing over the pillar',
    );
    const own = { ...question, override: pack(new Map([['role', 'web']])) };
    await expect(ask('pillar', 'web1', own)).rejects.not.toThrow('lays nothing');
  });
});

const result = { id: 'web1', fun: 'test.ping', retcode: 0, value: true };
const state = { result: true, comment: '', changes: {}, name: 'a', __id__: 'a', __run_num__: 0 };

test.each<[string, object]>([
  ['a state without a result', { type: 'host', result: { ...result, states: { a: null } } }],
  ['a retcode that is a text', { type: 'host', result: { ...result, retcode: '0' } }],
  [
    'a failure without a message',
    { type: 'host', result: { ...result, failure: { kind: 'host' } } },
  ],
  ['a value of 1000 levels', { type: 'host', result: { ...result, value: nested(1000) } }],
  ['a tag that is a list', { type: 'state', host: 'web1', tag: ['x'], result: state }],
  ['a phase that is a number', { type: 'phase', host: 'web1', phase: 1 }],
  ['a log without a level', { type: 'log', host: 'web1', module: 'x', message: 'y' }],
  ['a plan without a count', { type: 'plan', host: 'web1', total: {} }],
])('an event of a worker elsewhere with %s ends its own host, by name', async (_, event) => {
  const events = await runWith(true, async (_ask, say) => {
    say({ type: 'event', event } as FromFleetWorker);
    // The host has failed, so this event is dropped.
    say({ type: 'event', event: { type: 'host', result } });
  });
  expect(events).toEqual([
    { type: 'phase', host: 'web1', phase: 'done' },
    {
      type: 'host',
      result: expect.objectContaining({
        id: 'web1',
        failure: expect.objectContaining({ code: 'wire-protocol' }),
      }),
    },
  ]);
});
