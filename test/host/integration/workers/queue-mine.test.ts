// @module-tag slow
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Project, startProject } from '../../../helpers/project.ts';
import { hasRedis, startRedis, type TestRedis } from '../../../helpers/queue/redis.ts';
import { startWorker, type TestWorker, workerKeyOf } from '../../../helpers/queue/worker.ts';

/** The segment of each host; db1 is reached from here. */
const via: Readonly<Record<string, string>> = { lb1: 'dmz', web1: 'dmz', web2: 'office' };
const ids = ['db1', 'lb1', 'web1', 'web2'];

describe.skipIf(!hasRedis)('mine.get behind queue workers', () => {
  let project: Project;
  let redis: TestRedis;
  const workers: TestWorker[] = [];
  const rootOf = (id: string): string => project.hosts[id]?.root ?? '';
  const serversOf = (id: string): string => readFileSync(join(rootOf(id), 'servers'), 'utf8');
  let settings = '';

  beforeAll(async () => {
    redis = await startRedis();
    project = await startProject({
      hosts: ids,
      files: {
        'states/proxy.sls': `#!jinja|yaml
{{ grains.root }}/servers:
  file.managed:
    - contents: "{{ salt['mine.get']('*', 'address') | dictsort | join(' ') }} {{ pillar.early }}"
`,
        'states/argument.sls': `#!jinja|yaml
test.nop:
  test.nop: [{name: "{{ salt['publish.publish']('web*', 'test.echo', 'other') }}"}]
`,
        'states/choose.sls': `#!jinja|yaml
{% set name = salt['mine.get']('web2', 'test.echo')['web2'] %}
echo {{ salt['mine.get'](name, 'address') }}: cmd.run
`,
        'states/orch.sls': `#!jinja|yaml
{% for id, address in salt['mine.get']('web*', 'address') | dictsort %}
{{ id }}:
  salt.function:
    - name: test.echo
    - tgt: {{ id }}
    - parallel: True
    - arg: ["{{ address }} of the orchestration"]
{% endfor %}
`,
        'pillar/top.sls': "base:\n  '*': [all]\n",
        'pillar/all.sls': `#!jinja|yaml
early: {{ salt['mine.get']('web2', 'test.echo')['web2'] }}
`,
      },
    });
    const control = (await project.run('workers', 'key')).stdout.trim();
    const dir = join(project.dir, 'worker');
    const [dmz, office] = await Promise.all(['dmz', 'office'].map(name => workerKeyOf(dir, name)));
    settings = `known_hosts_file: known_hosts
cachedir: cache
queue: ${redis.url}
workers: {dmz: '${dmz}', office: '${office}'}
mine_functions:
  address:
    mine_function: cmd.run
    cmd: echo asked >> $HOME/asked; echo at-$(basename $HOME)
    python_shell: true
  test.echo: [lb1]
`;
    project.write({ 'tsalt.yaml': settings });
    project.roster(
      Object.entries(project.hosts)
        .map(([id, { entry }]) => `${entry}${via[id] ? `  via: ${via[id]}\n` : ''}`)
        .join(''),
    );
    // One place each: a host that waits for the answer of another one does not keep it from answering.
    for (const name of ['dmz', 'office'])
      workers.push(
        await startWorker({ dir, name, queue: redis.url, control, args: ['--concurrency', '1'] }),
      );
  });
  afterAll(async () => {
    await Promise.all(workers.map(worker => worker.end('SIGKILL')));
    await project.close();
    await redis.close();
  });

  const all = ids.map(id => `('${id}', 'at-${id}')`).join(' ');

  test('hosts of all segments are asked once, by states and pillar, while their workers are busy', async () => {
    const { code, stdout, stderr } = await project.run('*', 'state.apply', 'proxy');
    expect({ code, said: code === 0 ? '' : stdout + stderr }).toEqual({ code: 0, said: '' });
    for (const id of ids) {
      expect(serversOf(id)).toBe(`${all} lb1\n`);
      expect(readFileSync(join(rootOf(id), 'asked'), 'utf8')).toBe('asked\n');
    }
  }, 60_000);

  test('a worker chooses no arguments, and an answer of a host chooses no other host', async () => {
    const target = ['-L', 'lb1,web1,web2', 'state.apply'];
    const argument = await project.run(...target, 'argument');
    expect(argument.stdout).toContain('called with the arguments that mine_functions list');
    const choose = await project.run(...target, 'choose');
    expect(choose.stdout).toContain('would choose the host "lb1"');
    expect([argument.code, choose.code]).not.toContain(0);
  }, 60_000);

  test('hosts outside of the run are asked with mine_reach: roster, wherever they are', async () => {
    const refused = await project.run('-L', 'lb1,web2', 'state.apply', 'proxy');
    expect(refused.code).not.toBe(0);
    expect(refused.stdout).toContain("needs 'address' of hosts that are not part of this run.");
    expect(refused.stderr).toContain('hosts that are not part of this run: db1, web1.');
    project.write({ 'tsalt.yaml': `${settings}mine_reach: roster\n` });
    for (const [id, asked] of [
      ['lb1', 'db1'],
      ['db1', 'web1'],
    ] as const) {
      rmSync(join(rootOf(id), 'servers'), { force: true });
      const { code, stdout, stderr } = await project.run(id, 'state.apply', 'proxy');
      expect({ code, said: code === 0 ? '' : stdout + stderr }).toEqual({ code: 0, said: '' });
      expect(serversOf(id)).toContain(`('${asked}', 'at-${asked}')`);
    }
  }, 60_000);

  test('an orchestration asks hosts behind workers', async () => {
    project.write({ 'tsalt.yaml': settings });
    const { code, stdout, stderr } = await project.run('@control', 'state.orchestrate', 'orch');
    expect({ code, said: code === 0 ? '' : stdout + stderr }).toEqual({ code: 0, said: '' });
    for (const id of ['web1', 'web2']) expect(stdout).toContain(`at-${id} of the orchestration`);
  }, 60_000);
});
