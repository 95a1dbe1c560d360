// @module-tag slow
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CliResult } from '../../../helpers/cli.ts';
import { type Project, startProject } from '../../../helpers/project.ts';
import { hasRedis, startRedis, type TestRedis } from '../../../helpers/queue/redis.ts';
import { startWorker, type TestWorker, workerKeyOf } from '../../../helpers/queue/worker.ts';

const ids = ['web1', 'web2', 'web3', 'db1'];
const secret = 'pillar-secret-4711';

describe.skipIf(!hasRedis)('queue workers', () => {
  let project: Project;
  let redis: TestRedis;
  const workers: TestWorker[] = [];
  let control = '';

  const rosterWith = (via: Readonly<Record<string, string>>): string =>
    Object.entries(project.hosts)
      .map(([id, { entry }]) => `${entry}${via[id] ? `  via: ${via[id]}\n` : ''}`)
      .join('');
  const root = (id: string): string => project.hosts[id]?.root ?? '';

  beforeAll(async () => {
    redis = await startRedis();
    project = await startProject({
      hosts: ids,
      files: {
        'states/top.sls': "base:\n  '*': [site]\n",
        'states/site.sls': `#!jinja|yaml
conf:
  file.managed:
    - name: {{ grains.root }}/conf
    - contents: |
        host {{ grains.id }}
        token {{ pillar.token }}
        home {{ pillar.home }}
template:
  file.managed:
    - name: {{ grains.root }}/made
    - source: salt://files/made.j2
    - template: jinja
fails:
  test.configurable_test_state:
    - changes: False
    - result: {{ grains.id != 'web3' }}
    - require: [{file: conf}]
own:
  site.greeting:
    - name: {{ grains.id }}
`,
        'states/_states/site.ts': `export const greeting = ({ name }: { name: string }) =>
  ({ name, result: true, changes: {}, comment: 'hello ' + name });
`,
        'states/files/made.j2': 'made for {{ grains.id }} {{ pillar.float }}\n',
        'states/broken.sls': 'x:\n  test.nop: [{unknown_argument: 1}]\n',
        'states/slow.sls':
          "#!jinja|yaml\nslow:\n  cmd.run:\n    - name: echo begun >> {{ grains.root }}/begun; sleep {{ pillar.get('seconds', 8) }}; echo done >> {{ grains.root }}/done\n",
        'states/both.sls': `${['web1', 'web2']
          .map(
            id =>
              `${id}:\n  salt.function: [{name: test.echo}, {tgt: ${id}}, {arg: [from ${id}]}, {parallel: True}]\n`,
          )
          .join('')}`,
        'pillar/top.sls': "base:\n  '*': [all]\n",
        'pillar/all.sls': `#!jinja|yaml
token: ${secret}
float: 1.0
home: {{ salt['cmd.run']('echo asked-' ~ grains.id) }}
`,
      },
    });
    control = (await project.run('workers', 'key')).stdout.trim();
    const [dmz, office] = await Promise.all(
      ['dmz', 'office'].map(name => workerKeyOf(join(project.dir, 'worker'), name)),
    );
    project.write({
      'tsalt.yaml': `known_hosts_file: known_hosts
cachedir: cache
queue: ${redis.url}
workers: {dmz: '${dmz}', office: ['${office}']}
file_roots: {base: [states]}
pillar_roots: {base: [pillar]}
`,
    });
    for (const name of ['dmz', 'office'])
      workers.push(
        await startWorker({ dir: join(project.dir, 'worker'), name, queue: redis.url, control }),
      );
  });
  afterAll(async () => {
    await Promise.all(workers.map(worker => worker.end('SIGKILL')));
    await project.close();
    await redis.close();
  });

  const withoutTimes = (key: string, value: unknown): unknown =>
    key === 'duration' || key === 'start_time' ? 0 : value;

  const comparable = ({ code, stdout, stderr }: CliResult): unknown => {
    const byId = Object.entries(JSON.parse(stdout) as object).toSorted(([a], [b]) =>
      a < b ? -1 : 1,
    );
    return { code, stderr, results: JSON.stringify(byId, withoutTimes) };
  };

  const forget = (): void => {
    for (const id of ids)
      for (const name of ['conf', 'made', 'begun', 'done'])
        rmSync(join(root(id), name), { force: true });
  };

  test.each([
    ['state.apply'],
    ['state.apply', 'broken'],
    ['test.ping'],
    ['grains.get', 'id'],
    ['pillar.get', 'token'],
    ['cp.get_file_str', 'salt://files/made.j2'],
    ['state.apply', 'test=True'],
  ])('%s %s: equal to a run from here', async (...call) => {
    const words = call.filter(word => word !== undefined);
    forget();
    project.roster(rosterWith({}));
    const here = comparable(await project.run('*', ...words, '--out=json', '--static'));
    forget();
    project.roster(rosterWith({ web1: 'dmz', web2: 'dmz', web3: 'dmz', db1: 'office' }));
    const elsewhere = comparable(await project.run('*', ...words, '--out=json', '--static'));
    expect(elsewhere).toEqual(here);
  });

  test('hosts with and without via share a run', async () => {
    forget();
    project.roster(rosterWith({ web1: 'dmz', db1: 'office' }));
    const { stdout } = await project.run('*', 'state.apply', '--out=json', '--static');
    expect(Object.keys(JSON.parse(stdout) as object).toSorted()).toEqual(ids.toSorted());
    expect(readFileSync(join(root('web1'), 'conf'), 'utf8')).toContain('home asked-web1');
    expect(existsSync(join(root('web2'), 'conf'))).toBe(true);
  });

  test('steps of an orchestration run at the same time by one worker', async () => {
    project.roster(rosterWith({ web1: 'dmz', web2: 'dmz' }));
    const { code, stdout } = await project.run('@control', 'state.orchestrate', 'both');
    expect({ code, stdout }).toMatchObject({ code: 0 });
    for (const id of ['web1', 'web2']) expect(stdout).toContain(`from ${id}`);
  }, 60_000);

  test('a further host takes at most 20 requests of Redis, and nothing outlives a run', async () => {
    project.roster(rosterWith({ web1: 'dmz', web2: 'dmz', web3: 'dmz', db1: 'dmz' }));
    const requests = async (target: string): Promise<number> => {
      const monitor = await redis.client.monitor();
      let count = 0;
      let closed = 0;
      const began = performance.now();
      // What a script of BullMQ calls inside is not sent. Signs of life and the like depend on time.
      const counted = ['eval', 'evalsha', 'bzpopmin', 'scan', 'mget', 'xadd', 'xread'];
      monitor.on('monitor', (_time: string, [command = '', key = '']: string[], source: string) => {
        if (command === 'del' && key.startsWith('tsalt:run-')) closed = performance.now();
        if (source !== 'lua' && counted.includes(command.toLowerCase())) count += 1;
      });
      expect((await project.run('-L', target, 'test.ping')).code).toBe(0);
      monitor.disconnect();
      // A timer of a closed connection once kept each run for 20 s.
      expect(performance.now() - closed).toBeLessThan(closed - began);
      return count;
    };
    await requests('web1');
    const one = await requests('web1');
    const four = await requests(ids.join(','));
    // 8 on a busy machine.
    expect((four - one) / 3).toBeLessThanOrEqual(20);
    expect(four).toBeGreaterThan(one);
  });
});
