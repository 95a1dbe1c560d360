// @module-tag slow
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CliResult } from '../../../helpers/cli.ts';
import { type Project, startProject } from '../../../helpers/project.ts';

const ids = ['web1', 'web2', 'web3', 'web4', 'web5', 'web6'];
const secret = 'pillar-secret-4711';
let project: Project;
let down: Server;

beforeAll(async () => {
  project = await startProject({
    hosts: ids,
    files: {
      'states/top.sls': "base:\n  '*': [site]\n",
      'states/site.sls': `
conf:
  file.managed:
    - name: {{ grains.root }}/conf
    - contents: |
        host {{ grains.id }}
        token {{ pillar.token }}
        float {{ pillar.float }}
fails:
  test.configurable_test_state:
    - changes: False
    - result: {{ grains.id != 'web3' }}
    - require: [{file: conf}]
`,
      'states/slow.sls': 'slow:\n  cmd.run:\n    - name: sleep 8\n',
      'states/broken.sls':
        'x:\n  test.nop: [{unknown_argument: {{ 1 / (grains.id | length - 4) }} }]\n',
      'pillar/top.sls': "base:\n  '*': [all]\n",
      'pillar/all.sls': 'token: sdb://store/token\nfloat: 1.0\n9: nine\n1: one\n',
      'store.yaml': `token: ${secret}\n`,
    },
  });
  project.write({
    'tsalt.yaml': `known_hosts_file: known_hosts
cachedir: cache
file_roots: {base: [states]}
pillar_roots: {base: [pillar]}
store: {driver: yaml, files: [store.yaml]}
`,
  });
  down = createServer(socket => socket.destroy());
  await new Promise<void>(resolve => down.listen(0, '127.0.0.1', resolve));
  const { port } = down.address() as { port: number };
  const entries = Object.values(project.hosts).map(({ entry }) => entry);
  project.roster(`${entries.join('')}db1:\n  host: 127.0.0.1\n  port: ${port}\n  user: tester\n`);
});
afterAll(async () => {
  down.close();
  await project.close();
});

/** The result without times, which differ from run to run, and with hosts in one order. */
const comparable = ({ code, stdout, stderr }: CliResult): unknown => {
  const byId = Object.entries(JSON.parse(stdout) as object).toSorted(([a], [b]) =>
    a < b ? -1 : 1,
  );
  return { code, stderr, results: JSON.stringify(byId, withoutTimes) };
};

const withoutTimes = (key: string, value: unknown): unknown =>
  key === 'duration' || key === 'start_time' ? 0 : value;

const both = async (...args: string[]): Promise<[unknown, unknown]> => {
  const alone = await project.run(...args, '--out=json', '--static');
  const shared = await project.run(...args, '--out=json', '--static', '--workers=3');
  return [comparable(alone), comparable(shared)];
};

/** The workers of runs in the project's folder. */
const workers = (): number[] =>
  readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .filter(pid => {
      try {
        const isOurs = readlinkSync(`/proc/${pid}/cwd`) === project.dir;
        return isOurs && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('--worker-process');
      } catch {
        return false;
      }
    })
    .map(Number);

const until = async <T>(look: () => T | undefined | false): Promise<T> => {
  for (let tries = 0; tries < 200; tries += 1) {
    const found = look();
    if (found) return found;
    await new Promise(resolve => setTimeout(resolve, 50));
  }
  throw new Error('it did not come about');
};

test('--workers: states, functions and shell commands return what one process returns', async () => {
  await project.run('*', 'state.apply', '--out=quiet');
  for (const args of [
    ['*', 'state.apply'],
    ['*', 'state.apply', 'test=True'],
    ['*', 'pillar.items'],
    ['-G', 'id:web[1-4]', 'test.arg', '1.0', 'a=[1, 2.0]'],
    ['-r', 'web*', 'echo $HOME'],
    ['web*', 'no.function'],
    ['web*', 'state.apply', 'broken'],
  ]) {
    const [alone, shared] = await both(...args);
    expect(shared).toEqual(alone);
  }
  expect(workers()).toEqual([]);
}, 240_000);

test('--workers: a budget of failures and batches count the hosts of all workers', async () => {
  const args = ['*', 'state.apply', '-b', '1', '--max-fail=1', '--order=alphabetical'];
  const [alone, shared] = await both(...args);
  expect(shared).toEqual(alone);
}, 60_000);

test('--workers: no host is changed when the states of another do not compile', async () => {
  project.write({
    'states/half.sls':
      "half:\n  file.managed: [{name: {{ grains.root }}/half}]\n{% if grains.id == 'web6' %}\nbad: [\n{% endif %}\n",
  });
  const order = async (...more: string[]): Promise<string[]> => {
    const { stdout } = await project.run('web*', 'state.apply', 'half', '--out=ndjson', ...more);
    const events = stdout
      .trim()
      .split('\n')
      .map(line => JSON.parse(line) as { type: string; host?: string; result?: { id: string } });
    const failed = events.findIndex(({ type, result }) => type === 'host' && result?.id === 'web6');
    return events.slice(0, failed).flatMap(({ type }) => (type === 'state' ? [type] : []));
  };
  expect(await order('--workers=3')).toEqual([]);
}, 60_000);

test('--workers: a worker that is killed fails its hosts, and the others go on', async () => {
  const run = project.run('web*', 'state.apply', 'slow', '--workers=2', '--out=json', '--static');
  const pids = await until(() => workers().length === 2 && workers());
  await new Promise(resolve => setTimeout(resolve, 3000));
  process.kill(pids[0] as number, 'SIGKILL');
  const { code, stdout, stderr } = await run;
  const results = Object.entries(JSON.parse(stdout) as Record<string, unknown>);
  const lost = results.filter(([, value]) =>
    JSON.stringify(value).includes('worker process ended'),
  );
  expect({ code, lost: lost.length, all: results.length, stderr }).toMatchObject({
    code: 70,
    lost: 3,
    all: 6,
  });
  expect(workers()).toEqual([]);
}, 60_000);

test('--workers: arguments and environment of the workers have no secret', async () => {
  const run = project.run('web*', 'state.apply', 'slow', '--workers=2', 'pillar={}', '--out=quiet');
  const pids = await until(() => workers().length === 2 && workers());
  for (const pid of pids)
    for (const file of ['cmdline', 'environ'])
      expect(readFileSync(`/proc/${pid}/${file}`, 'utf8')).not.toContain(secret);
  for (const pid of pids) process.kill(pid, 'SIGKILL');
  await until(() => workers().length === 2 && workers().some(pid => !pids.includes(pid)) && true);
  for (const pid of workers()) process.kill(pid, 'SIGKILL');
  expect((await run).code).toBe(70);
}, 60_000);

test('--workers: a wrong number is refused', async () => {
  for (const wrong of ['0', '65', 'many', '-1']) {
    const { code, stderr } = await project.run('web1', 'test.ping', `--workers=${wrong}`);
    expect({ code, stderr }).toEqual({
      code: 64,
      stderr: expect.stringContaining('The value of --workers must be a number from 1 to 64'),
    });
  }
});
