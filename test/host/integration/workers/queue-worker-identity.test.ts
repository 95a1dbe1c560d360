// @module-tag slow
import { join } from 'node:path';
import { Worker } from 'bullmq';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { encodeMessage } from '../../../../src/control/workers/messages.ts';
import { sayAlive, sayGone } from '../../../../src/queue/alive.ts';
import { openKeys, parseKey, workerId } from '../../../../src/queue/keys.ts';
import { envelopeOf, MessageReceiver, MessageSender } from '../../../../src/queue/messages.ts';
import {
  JobOpener,
  type QueueJob,
  type SealedJob,
  sealedJobOf,
} from '../../../../src/queue/sealed-job.ts';
import { StreamWriter } from '../../../../src/queue/stream.ts';
import { readTicket } from '../../../../src/queue/tickets.ts';
import { type Project, startProject } from '../../../helpers/project.ts';
import { hasRedis, startRedis, type TestRedis } from '../../../helpers/queue/redis.ts';
import { startWorker, type TestWorker, workerKeyOf } from '../../../helpers/queue/worker.ts';

const ids = ['web1', 'web2', 'web3', 'web4'];

describe.skipIf(!hasRedis)('two workers of one segment, each with its own key', () => {
  let project: Project;
  let redis: TestRedis;
  let control = '';
  let keys: { readonly first: string; readonly second: string };
  const workers: TestWorker[] = [];
  /** The second worker, which all tests need. */
  let lasting: TestWorker;

  const dirOf = (name: string): string => join(project.dir, name);
  const start = async (name: 'first' | 'second'): Promise<TestWorker> => {
    const started = await startWorker({ dir: dirOf(name), name: 'dmz', queue: redis.url, control });
    workers.push(started);
    return started;
  };
  const configure = (...known: readonly string[]): void =>
    project.write({
      'tsalt.yaml': `known_hosts_file: known_hosts
cachedir: cache
queue: ${redis.url}
workers: {dmz: [${known.map(key => `'${key}'`).join(', ')}]}
file_roots: {base: [states]}
roster_defaults: {via: dmz}
`,
    });
  const connection = () => ({
    connection: { port: redis.port, host: '127.0.0.1' },
    prefix: 'tsalt',
  });
  const listed = async (): Promise<string[]> =>
    (
      JSON.parse((await project.run('workers', '--out=json')).stdout) as {
        readonly worker: string;
      }[]
    ).map(({ worker }) => worker);
  /** The jobs and messages that go through Redis during some work, and the commands about tickets. */
  const listen = async (work: () => Promise<unknown>) => {
    const monitor = await redis.client.monitor();
    const found: Record<string, unknown>[] = [];
    const tickets: (readonly string[])[] = [];
    monitor.on('monitor', (_time: string, args: string[]) => {
      if (args[1]?.startsWith('tsalt:tickets-')) tickets.push(args);
      for (const arg of args)
        if (/^\{"(?:tickets|jid)":/.test(arg))
          found.push(JSON.parse(arg) as Record<string, unknown>);
    });
    await work();
    monitor.disconnect();
    const jobs = found.flatMap(data => sealedJobOf(data) ?? []);
    return { messages: found.flatMap(data => envelopeOf(data) ?? []), jobs, tickets };
  };
  /** The workers for which tickets were stored. */
  const ticketsFor = (tickets: readonly (readonly string[])[]): string[] =>
    tickets
      .filter(([command]) => command?.toLowerCase() === 'hset')
      .flatMap(([, , ...fields]) => fields.filter((_, at) => at % 2 === 0))
      .sort();

  beforeAll(async () => {
    redis = await startRedis();
    project = await startProject({
      hosts: ids,
      files: { 'states/files/one.txt': 'one\n' },
    });
    control = (await project.run('workers', 'key')).stdout.trim();
    const [first, second] = await Promise.all(
      ['first', 'second'].map(name => workerKeyOf(dirOf(name), 'dmz')),
    );
    keys = { first: first ?? '', second: second ?? '' };
    configure(keys.first, keys.second);
    lasting = await start('second');
  });
  afterAll(async () => {
    await Promise.all(workers.map(one => one.end('SIGKILL')));
    await project.close();
    await redis.close();
  });
  beforeEach(() => configure(keys.first, keys.second));

  /** Takes one job of the segment as the first worker could, while the other one is stopped. */
  const takeOne = async (
    other: TestWorker,
    then: (data: unknown) => Promise<void>,
  ): Promise<void> => {
    other.process.kill('SIGSTOP');
    let thief: Worker | undefined;
    await new Promise((resolve, reject) => {
      thief = new Worker('jobs-dmz', ({ data }) => then(data).then(resolve, reject), connection());
    });
    await thief?.close();
    other.process.kill('SIGCONT');
  };

  test('a worker can neither read nor forge the messages of another one of its segment', async () => {
    const first = await openKeys(join(dirOf('first'), 'dmz'));
    const controls = [parseKey(control, 'control')];
    const [own, other] = [workerId(first.publicKey), workerId(parseKey(keys.second, 'key'))];
    const forged = `dmz~${other}~${'0'.repeat(16)}`;
    const opener = new JobOpener(first, controls, (name, id) => readTicket(redis.client, name, id));
    const open = async (data: unknown): Promise<QueueJob> =>
      (await opener.open(sealedJobOf(data) as SealedJob)) as QueueJob;
    let key = Buffer.alloc(32);
    const { messages, tickets } = await listen(async () => {
      const taken = takeOne(lasting, async data => {
        const { jid, runKey, number } = await open(data);
        key = Buffer.from(runKey, 'base64');
        const inbox = new StreamWriter(redis.client, `run-${jid}`);
        const route = { jid, instance: forged, to: 'control' } as const;
        const sender = new MessageSender(inbox, key, route);
        sender.send(encodeMessage({ type: 'claim', id: number }));
        await sender.sent();
      });
      const [run] = await Promise.all([project.run('*', 'test.ping'), taken]);
      expect(run).toMatchObject({ code: 0 });
    });
    expect(ticketsFor(tickets)).toEqual([own, other].sort());
    const others = messages.filter(({ instance }) => instance !== forged);
    expect(messages.length).toBeGreaterThan(others.length);
    expect(others.length).toBeGreaterThan(4);
    for (const message of others)
      for (const to of ['control', 'worker'] as const)
        expect(() => new MessageReceiver(key, { ...message, to }).open(message)).toThrow();
    expect(await redis.client.keys(`tsalt:to-${forged}*`)).toEqual([]);

    const alive = {
      ...{ segment: 'dmz', worker: other, instance: forged, version: '9', machine: 'm' },
      ...{ hosts: 0, concurrency: 1, started: 1, at: Date.now() },
    };
    await sayAlive(redis.client, alive, first);
    expect(await listed()).toEqual([other]);
    await sayGone(redis.client, forged);
  });

  test('a worker whose key was removed has no host, and no file sent after that; the other one goes on', async () => {
    const revoked = await start('first');
    expect((await project.run('*', 'test.ping')).code).toBe(0);
    const before = new Set(await redis.client.keys('tsalt:file:*'));
    expect((await listed()).sort()).toEqual([keys.first, keys.second].map(idOf).sort());

    configure(keys.second);
    const { tickets, jobs } = await listen(async () => {
      const { code, stdout } = await project.run('*', 'test.ping', '--out=json', '--static');
      expect({ code, hosts: Object.keys(JSON.parse(stdout) as object).length }).toEqual({
        code: 0,
        hosts: ids.length,
      });
    });
    expect(ticketsFor(tickets)).toEqual([idOf(keys.second)]);
    expect(jobs.length).toBeGreaterThanOrEqual(ids.length);
    expect(await listed()).toEqual([idOf(keys.second)]);
    const after = (await redis.client.keys('tsalt:file:*')).filter(name => !before.has(name));
    expect(after).toHaveLength(before.size);
    expect(revoked.process.exitCode).toBe(null);
    await revoked.end();
  });

  test('a worker reads its ticket once in a run, which leaves none in Redis', async () => {
    const { tickets, jobs } = await listen(async () => {
      expect((await project.run('*', 'test.ping')).code).toBe(0);
    });
    expect(new Set(jobs.map(job => job.sealed)).size).toBeGreaterThanOrEqual(ids.length);
    const commands = tickets.map(([command, , worker]) => [command?.toLowerCase(), worker]);
    expect(commands.filter(([command]) => command === 'hget')).toEqual([
      ['hget', idOf(keys.second)],
    ]);
    expect(commands.filter(([command]) => command === 'hset')).toHaveLength(1);
    expect(await redis.client.keys('tsalt:tickets-*')).toEqual([]);
  });

  test('a job that a worker takes and keeps is offered again', async () => {
    const kept = takeOne(lasting, async () => undefined);
    const [run] = await Promise.all([project.run('web1', 'test.ping'), kept]);
    expect(run).toMatchObject({ code: 0 });
  });
});

const idOf = (key: string): string => workerId(parseKey(key, 'key'));
