// @module-tag slow
import { type ChildProcess, spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { Queue } from 'bullmq';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openKeys } from '../../../../src/queue/keys.ts';
import { JobSealer } from '../../../../src/queue/sealed-job.ts';
import { packageRoot } from '../../../helpers/cli.ts';
import { type Project, startProject } from '../../../helpers/project.ts';
import { hasRedis, startRedis, type TestRedis } from '../../../helpers/queue/redis.ts';
import { startWorker, type TestWorker, workerKeyOf } from '../../../helpers/queue/worker.ts';
import { waitFor } from '../../../helpers/wait-for.ts';

// Too long to stand in sealed messages by chance, as four letters do in a run of many.
const named = 'web4.inner-network-4714';
const ids = ['web1', 'web2', 'web3', named];
const secret = 'pillar-secret-4711';
const content = 'content-of-a-state-file-4712';

describe.skipIf(!hasRedis)('queue workers that fail, and a queue that lies', () => {
  let project: Project;
  let redis: TestRedis;
  let control = '';
  const workers: TestWorker[] = [];

  const root = (id: string): string => project.hosts[id]?.root ?? '';
  const lines = (id: string, name: string): number => {
    const path = join(root(id), name);
    return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n').length : 0;
  };
  const worker = async (name = 'dmz', args: readonly string[] = []): Promise<TestWorker> => {
    const dir = join(project.dir, 'worker');
    const started = await startWorker({ dir, name, queue: redis.url, control, args });
    workers.push(started);
    return started;
  };
  const begin = (...args: string[]): { child: ChildProcess; ended: Promise<number | null> } => {
    const child = spawn(process.execPath, [join(packageRoot, 'dist/tsalt-ssh.cjs'), ...args], {
      cwd: project.dir,
      stdio: 'ignore',
      env: { ...process.env, HOME: join(project.dir, 'home'), SSH_AUTH_SOCK: '' },
    });
    return { child, ended: new Promise(resolve => child.once('exit', code => resolve(code))) };
  };
  const apply = (...args: string[]) =>
    project.run('*', 'state.apply', ...args, '--out=json', '--static');

  beforeAll(async () => {
    redis = await startRedis();
    project = await startProject({
      hosts: ids,
      files: {
        'states/slow.sls': `#!jinja|yaml
slow:
  cmd.run:
    - name: echo begun >> {{ grains.root }}/begun; sleep {{ pillar.get('seconds', 4) }}; echo done >> {{ grains.root }}/done
conf:
  file.managed:
    - name: {{ grains.root }}/conf
    - source: salt://files/conf.j2
    - template: jinja
`,
        'states/files/conf.j2': `${content} {{ pillar.token }}\n`,
        'states/fails.sls': `#!jinja|yaml
echo x >> {{ grains.root }}/fails; false:
  cmd.run: []
`,
        'pillar/top.sls': "base:\n  '*': [all]\n",
        'pillar/all.sls': `token: ${secret}\n`,
      },
    });
    control = (await project.run('workers', 'key')).stdout.trim();
    const dir = join(project.dir, 'worker');
    const [dmz, other] = await Promise.all(['dmz', 'other'].map(name => workerKeyOf(dir, name)));
    project.write({
      'tsalt.yaml': `known_hosts_file: known_hosts
cachedir: cache
queue: ${redis.url}
workers: {dmz: '${dmz}', other: '${other}'}
file_roots: {base: [states]}
pillar_roots: {base: [pillar]}
roster_defaults: {via: dmz}
`,
    });
  });
  afterAll(async () => {
    await Promise.all(workers.map(one => one.end('SIGKILL')));
    await project.close();
    await redis.close();
  });
  beforeEach(() => {
    for (const id of ids)
      for (const name of ['begun', 'done', 'conf', 'fails'])
        rmSync(join(root(id), name), { force: true });
  });

  test('without a worker hosts are unreachable, and the message says what to start', async () => {
    const { code, stdout } = await project.run('web1', 'test.ping');
    expect(code).toBe(68);
    expect(stdout).toContain("no worker of the segment 'dmz' is alive");
    expect(stdout).toContain('tsalt-ssh worker --name dmz');
    const wrong = await project.run('web1', 'test.ping', '--via', 'nowhere', '-c', 'plain');
    expect(wrong.code).toBe(64);
  });

  test('a worker that is stopped ends although Redis has gone', async () => {
    const gone = await startRedis();
    const dir = join(project.dir, 'lonely');
    const lonely = await startWorker({ dir, name: 'dmz', queue: gone.url, control });
    await gone.close();
    await lonely.end('SIGTERM');
    expect(lonely.process.exitCode).toBe(0);
  });

  test('Redis holds no pillar, no secret, no file and no name of a host in plain text', async () => {
    await worker();
    const monitor = await redis.client.monitor();
    let heard = '';
    monitor.on('monitor', (_time: string, args: string[]) => {
      heard += `${args.join(' ')}\n`;
    });
    const ran = await apply('slow', 'pillar={seconds: 0}');
    expect(ran.code).toBe(0);
    monitor.disconnect();
    await redis.client.save();
    const key = readFileSync(project.key, 'utf8').split('\n')[2] ?? '';
    const dump = ['dump.rdb', 'appendonlydir']
      .flatMap(name => {
        const path = join(redis.dir, name);
        return name === 'dump.rdb' ? [readFileSync(path, 'latin1')] : filesIn(path);
      })
      .join('');
    expect(heard.length).toBeGreaterThan(10_000);
    for (const word of [secret, content, key, named, 'state.apply', root('web1')])
      for (const text of [heard, dump])
        expect({ word, found: text.includes(word) }).toEqual({ word, found: false });
    expect(readFileSync(join(root('web1'), 'conf'), 'utf8')).toBe(`${content} ${secret}\n`);
  });

  test('the workers are listed with version and load', async () => {
    // Signs of life are sent every five seconds.
    await expect
      .poll(async () => (await project.run('workers')).stdout)
      .toMatch(/^dmz +\S+ +[0-9a-f]{16} +\d+\.\d+\.\d+ +0\/25 hosts {2}up \d+ s\n$/);
    // A sign of life that nobody known has signed.
    const body = JSON.stringify({
      segment: 'dmz',
      instance: 'dmz~x',
      version: '9',
      machine: 'm',
      hosts: 0,
      concurrency: 1,
      started: 1,
      at: Date.now(),
    });
    await redis.client.set(
      'tsalt:alive:dmz~x',
      JSON.stringify({ body, signature: 'AAAA' }),
      'EX',
      20,
    );
    expect((await project.run('workers')).stdout.trim().split('\n')).toHaveLength(1);
  });

  test('metrics tell the workers, and what waits for one', async () => {
    const run = begin('web1', 'state.apply', 'slow', 'pillar={seconds: 8}');
    await waitFor(() => lines('web1', 'begun') === 1, 20_000);
    const file = join(project.dir, 'queue.prom');
    expect((await project.run('workers', '--prometheus', file)).code).toBe(0);
    const metrics = readFileSync(file, 'utf8');
    expect(metrics).toContain('tsalt_queue_workers{segment="dmz"} 1\n');
    expect(metrics).toContain('tsalt_queue_workers{segment="other"} 0\n');
    expect(metrics).toContain('tsalt_queue_active_hosts{segment="dmz"} 1\n');
    expect(metrics).toContain('tsalt_queue_waiting_hosts{segment="dmz"} 0\n');
    expect(metrics).toMatch(/tsalt_queue_worker_concurrency\{segment="dmz",.*\} 25\n/);
    expect(metrics).toMatch(/tsalt_queue_worker_info\{.*,version="\d+\.\d+\.\d+"\} 1\n/);
    run.child.kill('SIGINT');
    await run.ended;
  });

  test('a job that is in the queue twice is done once, and an old one not at all', async () => {
    const monitor = await redis.client.monitor();
    const sealed = new Set<string>();
    monitor.on('monitor', (_time: string, args: string[]) => {
      for (const arg of args) {
        const found = /^\{"tickets":[^{}]+\}$/.exec(arg)?.[0];
        if (found) sealed.add(found);
      }
    });
    const queue = new Queue('jobs-dmz', {
      connection: { port: redis.port, host: '127.0.0.1' },
      prefix: 'tsalt',
    });
    const again = async (): Promise<void> => {
      for (const one of sealed) await queue.add('host', JSON.parse(one) as object);
    };
    const run = begin('web1', 'state.apply', 'slow', 'pillar={seconds: 3}');
    await waitFor(() => lines('web1', 'begun') === 1, 20_000);
    expect(sealed.size).toBe(1);
    await again();
    expect(await run.ended).toBe(0);
    await again();
    await new Promise(resolve => setTimeout(resolve, 2000));
    monitor.disconnect();
    await queue.close();
    expect([lines('web1', 'begun'), lines('web1', 'done')]).toEqual([1, 1]);
    expect((await project.run('web1', 'test.ping')).code).toBe(0);
  });

  test('a control node that slept goes on with the workers that gave it up', async () => {
    const run = begin('-L', 'web1,web2', '-b', '1', 'state.apply', 'slow', 'pillar={seconds: 2}');
    await waitFor(() => lines('web1', 'begun') === 1, 20_000);
    run.child.kill('SIGSTOP');
    await waitFor(() => (workers[0]?.log() ?? '').includes('silent for too long'), 90_000);
    run.child.kill('SIGCONT');
    expect(await run.ended).toBe(0);
    expect([lines('web1', 'done'), lines('web2', 'done')]).toEqual([1, 1]);
  }, 150_000);

  test('a worker that is stopped ends although a job of its host is in the queue again', async () => {
    const queue = new Queue('jobs-dmz', {
      connection: { port: redis.port, host: '127.0.0.1' },
      prefix: 'tsalt',
    });
    const run = begin('web1', 'state.apply', 'slow', 'pillar={seconds: 4}');
    await waitFor(() => lines('web1', 'begun') === 1, 20_000);
    const [job] = await queue.getJobs(['active']);
    await queue.add('host', job?.data as object, { removeOnComplete: true });
    await waitFor(() => lines('web1', 'done') === 1, 20_000);
    await workers.shift()?.end('SIGTERM');
    expect(await run.ended).toBe(0);
    await queue.close();
    await worker();
  }, 60_000);

  test('a job of another control node is refused, and one that was changed', async () => {
    const keys = await openKeys(join(project.dir, 'stranger'));
    const [dmz] = workers;
    const [recipient = '', verifying = ''] = (dmz?.key ?? '').split(':');
    const job = {
      ...{ version: '0.1.0', jid: '20260101000000000000', number: 1, segment: 'dmz' },
      expires: Date.now() + 60_000,
    };
    const sealer = new JobSealer(keys, redis.client);
    const runKey = (): Buffer => Buffer.alloc(32);
    const sealed = await sealer.seal(job, [{ recipient, verifying }], runKey);
    const queue = new Queue('jobs-dmz', {
      connection: { port: redis.port, host: '127.0.0.1' },
      prefix: 'tsalt',
    });
    await queue.add('host', sealed);
    await waitFor(() => (dmz?.log() ?? '').includes('A job was refused'), 10_000);
    const ticket = `tsalt:tickets-${sealed.tickets}`;
    const [worker = '', text = ''] = Object.entries(await redis.client.hgetall(ticket))[0] ?? [];
    const flipped = Buffer.from(text, 'base64');
    flipped[flipped.length - 1] = (flipped.at(-1) ?? 0) ^ 1;
    await redis.client.hset(ticket, { [worker]: flipped.toString('base64') });
    await queue.add('host', sealed);
    await queue.close();
    await waitFor(() => (dmz?.log() ?? '').split('A job was refused').length === 3, 10_000);
    expect(dmz?.log()).toContain('no control node that this worker knows has signed it');
    expect((await project.run('web1', 'test.ping')).code).toBe(0);
  });

  test('--max-fail counts hosts of all workers exactly', async () => {
    await worker();
    const { stdout, code } = await apply('fails', '-b', '1', '--max-fail', '2');
    expect(code).toBe(20);
    expect(Object.keys(JSON.parse(stdout) as object)).toHaveLength(2);
    expect(ids.filter(id => lines(id, 'fails') > 0)).toHaveLength(2);
  });

  test('a worker that is killed in the middle is named as the cause, and nothing runs twice', async () => {
    const [one, two] = [workers[0] as TestWorker, workers[1] as TestWorker];
    await two.end();
    const run = apply('slow', 'pillar={seconds: 6}');
    await waitFor(() => ids.every(id => lines(id, 'begun') === 1), 20_000);
    await one.end('SIGKILL');
    await worker();
    const { stdout, code } = await run;
    expect(code).toBe(70);
    expect(stdout).toContain(
      'its worker process ended before its run did (no message from it for 30 s)',
    );
    expect(ids.map(id => lines(id, 'begun'))).toEqual([1, 1, 1, 1]);
    expect((await project.run('*', 'test.ping')).code).toBe(0);
  }, 90_000);

  test('a run goes on when Redis is killed and started again', async () => {
    const run = apply('slow', 'pillar={seconds: 5}');
    await waitFor(() => ids.every(id => lines(id, 'begun') === 1), 20_000);
    await redis.restart();
    const { code, stdout } = await run;
    expect({ code, hosts: Object.keys(JSON.parse(stdout) as object).length }).toEqual({
      code: 0,
      hosts: 4,
    });
    expect(ids.map(id => [lines(id, 'begun'), lines(id, 'done')])).toEqual(ids.map(() => [1, 1]));
  });

  test('a control node that is killed leaves a worker that works for the next run', async () => {
    const run = begin('*', 'state.apply', 'slow', 'pillar={seconds: 3}');
    await waitFor(() => ids.every(id => lines(id, 'begun') === 1), 20_000);
    run.child.kill('SIGKILL');
    await run.ended;
    expect((await project.run('*', 'test.ping')).code).toBe(0);
    await waitFor(() => ids.every(id => lines(id, 'done') === 1), 20_000);
    expect(ids.map(id => lines(id, 'begun'))).toEqual([1, 1, 1, 1]);
  });

  test('Ctrl-C ends the hosts in order', async () => {
    const run = begin('*', 'state.apply', 'slow', 'pillar={seconds: 20}');
    await waitFor(() => ids.every(id => lines(id, 'begun') === 1), 20_000);
    const started = performance.now();
    run.child.kill('SIGINT');
    expect(await run.ended).toBe(130);
    expect(performance.now() - started).toBeLessThan(10_000);
    expect(ids.map(id => lines(id, 'done'))).toEqual([0, 0, 0, 0]);
  });

  test('a worker of another version is refused, with what to do', async () => {
    for (const one of workers) await one.end();
    const folder = join(project.dir, 'old');
    mkdirSync(folder);
    cpSync(join(packageRoot, 'dist'), join(folder, 'dist'), { recursive: true });
    symlinkSync(join(packageRoot, 'node_modules'), join(folder, 'node_modules'));
    symlinkSync(join(packageRoot, 'src'), join(folder, 'src'));
    const about = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as object;
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...about, version: '0.0.9' }));
    const dir = join(project.dir, 'worker');
    const bin = join(folder, 'dist/tsalt-ssh.cjs');
    workers.push(await startWorker({ dir, name: 'dmz', queue: redis.url, control, bin }));
    const { code, stdout } = await project.run('web1', 'test.ping');
    expect(code).toBe(68);
    expect(stdout).toMatch(/the worker of the segment 'dmz' is tsalt-ssh 0\.0\.9, and this is /);
    expect(stdout).toContain('Install the same version');
  });

  test('a password in an address is not accepted on a command line', async () => {
    const address = 'redis://user:word@127.0.0.1:1';
    for (const words of [
      ['web1', 'test.ping', '--queue', address],
      ['worker', '--name', 'dmz', '--control', control, '--queue', address],
    ]) {
      const { code, stderr } = await project.run(...words);
      expect({ code, stderr }).toEqual({
        code: 64,
        stderr: expect.stringContaining('env:TSALT_QUEUE'),
      });
      expect(stderr).not.toContain('word@');
    }
  });
});

const filesIn = (folder: string): string[] =>
  readdirSync(folder).map(name => readFileSync(join(folder, name), 'latin1'));
