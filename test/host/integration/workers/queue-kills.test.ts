// @module-tag slow
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'bullmq';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { packageRoot } from '../../../helpers/cli.ts';
import { type Project, startProject } from '../../../helpers/project.ts';
import { hasRedis, startRedis, type TestRedis } from '../../../helpers/queue/redis.ts';
import { startWorker, type TestWorker, workerKeyOf } from '../../../helpers/queue/worker.ts';
import { seeded } from '../../../helpers/random.ts';

/** How often each part is killed. */
const kills = Number(process.env.TSALT_KILLS ?? (process.env.CI ? 8 : 3));
const seed = Number(process.env.TSALT_SEED ?? Date.now() % 1e9);
const random = seeded(seed);

const ids = Array.from({ length: Math.max(kills, 4) }, (_, at) => `web${at}`);

/** Every line in `begun` and `done` is one run of the state. */
const states = `#!jinja|yaml
{% set done = grains.root ~ '/round-' ~ pillar.round %}
slow:
  cmd.run:
    - name: echo {{ pillar.round }} >> {{ grains.root }}/begun; sleep {{ pillar.seconds }}; echo {{ pillar.round }} >> {{ grains.root }}/done; touch {{ done }}
    - creates: {{ done }}
`;

describe.skipIf(!hasRedis)(`killed at random moments (seed ${seed})`, () => {
  let project: Project;
  let redis: TestRedis;
  let control = '';
  let workers: TestWorker[] = [];

  const folders = { survivor: 'worker', killed: 'killed' };
  const worker = async (
    args: readonly string[] = [],
    who: keyof typeof folders = 'survivor',
  ): Promise<TestWorker> => {
    const dir = join(project.dir, folders[who]);
    const one = await startWorker({ dir, name: 'dmz', queue: redis.url, control, args });
    workers.push(one);
    return one;
  };
  const root = (id: string): string => project.hosts[id]?.root ?? '';
  /** How often a state was begun, or finished, on a host in a round. */
  const count = (id: string, name: 'begun' | 'done', round: number): number => {
    const path = join(root(id), name);
    const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
    return text.split('\n').filter(line => line === String(round)).length;
  };
  const call = (targets: readonly string[], round: number, seconds: number): string[] => [
    ...['-L', targets.join(','), 'state.apply', 'slow'],
    ...[`pillar={round: ${round}, seconds: ${seconds}}`, 'queue=True'],
  ];

  beforeAll(async () => {
    redis = await startRedis();
    project = await startProject({ hosts: ids, files: { 'states/slow.sls': states } });
    control = (await project.run('workers', 'key')).stdout.trim();
    const keys = await Promise.all(
      Object.values(folders).map(name => workerKeyOf(join(project.dir, name), 'dmz')),
    );
    project.write({
      'tsalt.yaml': `known_hosts_file: known_hosts
cachedir: cache
queue: ${redis.url}
workers: {dmz: ${JSON.stringify(keys)}}
roster_defaults: {via: dmz}
`,
    });
  }, 60_000);
  afterAll(async () => {
    await project.close();
    await redis.close();
  });
  beforeEach(() => {
    for (const id of ids)
      for (const name of ['begun', 'done']) rmSync(join(root(id), name), { force: true });
    return async () => {
      await Promise.all(workers.map(one => one.end('SIGKILL')));
      workers = [];
    };
  });

  test('a worker that takes a job and dies before it says so: another one does the host', async () => {
    const connection = { port: redis.port, host: '127.0.0.1' };
    const prefix = 'tsalt';
    let isTaken = false;
    const take = (): Promise<void> => {
      isTaken = true;
      return new Promise(() => undefined);
    };
    // It has a host and takes no other one.
    await worker(['--concurrency', '1']);
    const busy = project.run(...call(['web0'], 3000, 10));
    await expect.poll(() => count('web0', 'begun', 3000)).toBe(1);
    const thief = new Worker('jobs-dmz', take, { connection, prefix, autorun: false });
    void thief.run().catch(() => undefined);
    const run = project.run(...call(['web1'], 3000, 0));
    await expect.poll(() => isTaken).toBe(true);
    await thief.close(true);
    expect([(await busy).code, (await run).code]).toEqual([0, 0]);
    expect(count('web1', 'done', 3000)).toBe(1);
  }, 120_000);

  test('workers: their hosts fail by that cause, the others are done by those that live, none twice', async () => {
    const survivor = await worker();
    const killed = await Promise.all(
      Array.from({ length: kills }, () => worker(['--concurrency', '1'], 'killed')),
    );
    const run = project.run(...call(ids, 1, 3), '--out=json', '--static');
    await Promise.all(
      killed.map(async one => {
        await pause(random() * 8000);
        await one.end('SIGKILL');
      }),
    );
    const { stdout, code } = await run;
    const results = JSON.parse(stdout) as Record<string, unknown>;
    expect(Object.keys(results).toSorted()).toEqual(ids.toSorted());
    const lost = ids.filter(id => typeof results[id] === 'string');
    for (const id of lost)
      expect(results[id]).toContain('its worker process ended before its run did');
    expect(code).toBe(lost.length === 0 ? 0 : 70);
    for (const id of ids)
      expect({ id, begun: count(id, 'begun', 1) <= 1 }).toEqual({ id, begun: true });
    for (const id of ids.filter(one => !lost.includes(one))) expect(count(id, 'done', 1)).toBe(1);

    // What had begun goes on until its end on the host; the next run waits for it.
    const next = await project.run(...call(ids, 1, 3), '--out=json', '--static');
    expect({ code: next.code, output: next.code === 0 ? '' : next.stdout }).toEqual({
      code: 0,
      output: '',
    });
    expect(survivor.process.exitCode).toBeNull();
  }, 240_000);

  test('Redis: runs go on, and each host is done once', async () => {
    await worker();
    let left = kills;
    const killing = (async () => {
      for (; left > 0; left -= 1) {
        await pause(random() * 3000);
        await redis.restart();
      }
    })();
    for (let round = 2; left > 0; round += 1) {
      const targets = ids.slice(0, 4);
      const { stdout, stderr, code } = await project.run(...call(targets, round, 1));
      // It says so at once when it begins in a moment without Redis: nothing was done then.
      const isRefused = code === 68 && /The queue .* cannot be used/.test(stdout + stderr);
      const done = targets.map(id => [count(id, 'begun', round), count(id, 'done', round)]);
      const once = isRefused ? 0 : 1;
      expect({ round, done, code: isRefused ? 0 : code, stdout: code === 0 ? '' : stdout }).toEqual(
        {
          round,
          done: targets.map(() => [once, once]),
          code: 0,
          stdout: isRefused ? stdout : '',
        },
      );
    }
    await killing;
  }, 240_000);

  test('Redis that does not come back: the run ends, and says why', async () => {
    const gone = await startRedis();
    const dir = join(project.dir, 'worker');
    const lonely = await startWorker({
      ...{ dir, name: 'dmz', queue: gone.url, control },
      args: ['--concurrency', '1'],
    });
    workers.push(lonely);
    const run = project.run(...call(['web0', 'web1'], 4000, 2), `--queue=${gone.url}`);
    await expect.poll(() => count('web0', 'begun', 4000) + count('web1', 'begun', 4000)).toBe(1);
    await gone.close();
    const { code, stdout, stderr } = await run;
    expect(code).toBe(70);
    expect(stdout + stderr).toContain(`The queue ${gone.url} has not answered for 30 s.`);
    expect(stdout).toContain('no message from it for 30 s');
  }, 120_000);

  test('the control node: the next run finishes what was begun, each change once', async () => {
    await worker();
    const targets = ids.slice(0, 2);
    let whole = 4000;
    for (let round = 101; round <= 100 + kills; round += 1) {
      const child = spawn(
        process.execPath,
        [join(packageRoot, 'dist/tsalt-ssh.cjs'), ...call(targets, round, 0.3)],
        {
          cwd: project.dir,
          stdio: 'ignore',
          env: { ...process.env, HOME: join(project.dir, 'home'), SSH_AUTH_SOCK: '' },
        },
      );
      const ended = new Promise<void>(resolve => child.once('close', () => resolve()));
      await Promise.race([pause(random() * whole), ended]);
      // Follows the load of the machine: most runs are to be killed.
      whole *= child.exitCode === null ? 1.1 : 0.7;
      child.kill('SIGKILL');
      await ended;
      const next = await project.run(...call(targets, round, 0.3));
      expect({ round, code: next.code, stdout: next.code === 0 ? '' : next.stdout }).toEqual({
        round,
        code: 0,
        stdout: '',
      });
      const done = targets.map(id => [count(id, 'begun', round), count(id, 'done', round)]);
      expect({ round, done }).toEqual({ round, done: targets.map(() => [1, 1]) });
    }
  }, 240_000);
});
