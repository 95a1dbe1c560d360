// @module-tag slow
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Project, startProject } from '../../../helpers/project.ts';

let project: Project;

const settings = `known_hosts_file: known_hosts
cachedir: cache
mine_functions:
  address:
    mine_function: cmd.run
    cmd: echo "asked $0" >> $HOME/asked; echo at-$(basename $HOME)
    python_shell: true
  test.echo: [from the mine]
  never:
    mine_function: cmd.run
    cmd: sleep 3600
  upwards:
    - mine_function: test.echo
    - ..
`;

const files = {
  'tsalt.yaml': settings,
  'states/proxy.sls': `#!jinja|yaml
{{ grains.root }}/servers:
  file.managed:
    - contents: |
        {%- for id, name in salt['mine.get']('web*', 'address') | dictsort %}
        server {{ id }} {{ name }}
        {%- endfor %}
`,
  'states/path.sls': `#!jinja|yaml
copy:
  file.managed:
    - name: {{ grains.root }}/copy
    - source: salt://folder/{{ salt['mine.get']('web1', 'upwards')['web1'] }}/secret.txt
`,
  'states/choose.sls': `#!jinja|yaml
{% set name = salt['mine.get']('web1', 'address')['web1'] %}
echo {{ salt['mine.get'](name, 'address') }}:
  cmd.run
`,
  'states/secret.txt': 'secret',
};

beforeAll(async () => {
  project = await startProject({ hosts: ['lb1', 'web1', 'web2'], files });
});
afterAll(() => project.close());

const rootOf = (id: string): string => project.hosts[id]?.root ?? '';
const readOf = (id: string, file: string): string => readFileSync(join(rootOf(id), file), 'utf8');
const config = (more: string): void => project.write({ 'tsalt.yaml': settings + more });

test('a template gets data of the hosts of the run; each host is asked once', async () => {
  config('');
  const { code, stdout } = await project.run('*', 'state.apply', 'proxy');
  expect({ code, stdout: code === 0 ? '' : stdout }).toEqual({ code: 0, stdout: '' });
  for (const id of ['lb1', 'web1', 'web2'])
    expect(readOf(id, 'servers')).toBe('server web1 at-web1\nserver web2 at-web2\n');
  expect(readOf('web1', 'asked').split('\n')).toHaveLength(2);
});

test('worker processes ask each other, over the connections of the run', async () => {
  config('');
  for (const id of ['web1', 'web2']) rmSync(join(rootOf(id), 'asked'), { force: true });
  for (const id of ['lb1', 'web1', 'web2']) rmSync(join(rootOf(id), 'servers'), { force: true });
  const before = ['web1', 'web2'].map(id => project.hosts[id]?.server.counts.connections ?? 0);
  const ran = await project.run('*', 'state.apply', 'proxy', '--workers', '2');
  expect({ code: ran.code, stderr: ran.stderr }).toMatchObject({ code: 0 });
  for (const id of ['lb1', 'web1', 'web2'])
    expect(readOf(id, 'servers')).toBe('server web1 at-web1\nserver web2 at-web2\n');
  for (const [at, id] of ['web1', 'web2'].entries()) {
    expect(readOf(id, 'asked').trim().split('\n')).toHaveLength(1);
    // A host that is asked before its run has begun gets a second connection.
    const logins = (project.hosts[id]?.server.counts.connections ?? 0) - (before[at] ?? 0);
    expect(logins).toBeLessThanOrEqual(2);
  }
  const missing = await project.run('-L', 'lb1,web1', 'state.apply', 'proxy', '--workers', '2');
  expect(missing.code).not.toBe(0);
  expect(missing.stdout).toContain('web2');
  const called = await project.run(
    '*',
    'mine.get',
    'web1',
    'address',
    '--workers',
    '2',
    '--out=json',
  );
  expect(called.stdout).toContain('at-web1');
  expect(called.stdout).not.toContain('cannot be asked here');
});

test('hosts outside of the run are an error that names them, unless mine_reach is roster', async () => {
  config('');
  const refused = await project.run('lb1', 'state.apply', 'proxy');
  expect(refused.code).not.toBe(0);
  expect(refused.stdout).toMatch(/hosts that are not part of this run: web1, web2/);
  config('mine_reach: roster\n');
  const reached = await project.run('lb1', 'state.apply', 'proxy');
  expect(reached.code).toBe(0);
  const asked = await project.run('lb1', 'mine.get', 'web*', 'address', '--out=json');
  expect(JSON.parse(asked.stdout)).toEqual({ lb1: { web1: 'at-web1', web2: 'at-web2' } });
});

test('a host that does not answer is an error, or answered as before, or left out', async () => {
  config('mine_reach: roster\n');
  expect((await project.run('lb1', 'mine.get', 'web*', 'address')).code).toBe(0);
  const entries = Object.values(project.hosts).map(({ entry }) => entry);
  project.roster(entries.join('').replace(/(web2:\n {2}host: 127.0.0.1\n {2}port: )\d+/, '$11'));
  const down = await project.run('lb1', 'mine.get', 'web*', 'address');
  expect(down.code).not.toBe(0);
  expect(down.stdout + down.stderr).toMatch(/did not respond:\n\s*web2: /);
  config('mine_reach: roster\nmine_missing: skip\n');
  const skipped = await project.run('lb1', 'mine.get', 'web*', 'address', '--out=json');
  expect(JSON.parse(skipped.stdout)).toEqual({ lb1: { web1: 'at-web1' } });
  expect(skipped.stderr).toContain('The host is left out (mine_missing).');
  project.roster(entries.join(''));
});

test.each(['run', 'roster'])(
  'a host that never answers holds up nobody: reached by %s',
  async reach => {
    config(`mine_reach: ${reach}\nmine_timeout: 1\n`);
    const target = reach === 'run' ? 'lb1,web1' : 'lb1';
    const { code, stdout, stderr } = await project.run('-L', target, 'mine.get', 'web1', 'never');
    expect(stdout + stderr).toContain('web1: it did not answer within 1 s (mine_timeout).');
    expect(code).not.toBe(0);
  },
);

test('the answers of an earlier run are kept privately, for a time', async () => {
  const dir = join(project.dir, 'cache/mine');
  expect(statSync(dir).mode & 0o777).toBe(0o700);
  for (const file of readdirSync(dir)) expect(statSync(join(dir, file)).mode & 0o777).toBe(0o600);
  const entries = Object.values(project.hosts).map(({ entry }) => entry);
  config('mine_reach: roster\n');
  expect((await project.run('lb1', 'mine.get', 'web2', 'address')).code).toBe(0);
  const port = /port: (\d+)/.exec(project.hosts.web2?.entry ?? '')?.[1] ?? '';
  await project.hosts.web2?.server.close();
  config('mine_reach: roster\nmine_missing: cached\n');
  const kept = await project.run('lb1', 'mine.get', 'web2', 'address', '--out=json');
  expect({ port, kept: JSON.parse(kept.stdout) }).toEqual({
    port,
    kept: { lb1: { web2: 'at-web2' } },
  });
  config('mine_reach: roster\nmine_missing: cached\nmine_ttl: 0.001\n');
  const old = await project.run('lb1', 'mine.get', 'web2', 'address');
  expect(old.code).not.toBe(0);
  project.roster(entries.filter(entry => !entry.startsWith('web2')).join(''));
});

test('only functions of mine_functions are asked for', async () => {
  config('mine_reach: roster\n');
  const { code, stdout, stderr } = await project.run('lb1', 'mine.get', 'web1', 'cmd.run');
  expect(code).not.toBe(0);
  expect(stdout + stderr).toContain("mine_functions of web1 do not contain 'cmd.run'");
  const valid = await project.run('web1', 'mine.valid', '--out=json');
  expect(Object.keys(JSON.parse(valid.stdout).web1)).toEqual([
    'address',
    'test.echo',
    'never',
    'upwards',
  ]);
});

test('publish.publish takes arguments; several functions are answered by name', async () => {
  config('mine_reach: roster\n');
  const words = ['lb1', 'publish.publish', 'web1', 'test.echo', 'arg=hello', '--out=json'];
  expect(JSON.parse((await project.run(...words)).stdout)).toEqual({ lb1: { web1: 'hello' } });
  const full = ['lb1', 'publish.full_data', 'web1', 'test.echo', '--out=json'];
  expect(JSON.parse((await project.run(...full)).stdout)).toEqual({
    lb1: { web1: { ret: 'from the mine' } },
  });
  const both = ['lb1', 'mine.get', 'web1', 'test.echo,address', '--out=json'];
  expect(JSON.parse((await project.run(...both)).stdout)).toEqual({
    lb1: { 'test.echo': { web1: 'from the mine' }, address: { web1: 'at-web1' } },
  });
});

test('an answer of another host chooses neither a file nor the next host to ask', async () => {
  config('mine_reach: roster\n');
  const path = await project.run('lb1', 'state.apply', 'path');
  expect(path.code).not.toBe(0);
  expect(path.stdout).not.toContain('"secret"');
  const choose = await project.run('lb1', 'state.apply', 'choose');
  expect(choose.code).not.toBe(0);
  expect(choose.stdout).toContain('would choose the host "at-web1"');
});

test('hosts that ask each other all get an answer, whatever the graph and the places', async () => {
  const ids = ['lb1', 'web1'];
  const question = fc.record({ from: fc.constantFrom(...ids), to: fc.constantFrom(...ids, '*') });
  await fc.assert(
    fc.asyncProperty(
      fc.array(question, { minLength: 1, maxLength: 4 }),
      fc.array(question, { maxLength: 3 }),
      fc.integer({ min: 1, max: 3 }),
      async (inStates, inPillar, places) => {
        const ask = ({ from, to }: { from: string; to: string }, at: number): string =>
          `{% if grains.id == '${from}' %}\nk${at}: {{ salt['mine.get']('${to}', 'address') | tojson }}\n{% endif %}\n`;
        project.write({
          'pillar/top.sls': "base:\n  '*': [asks]\n",
          'pillar/asks.sls': `#!jinja|yaml\nown: 1\n${inPillar.map(ask).join('')}`,
          'states/asks.sls': `#!jinja|yaml\nok:\n  test.nop: []\n{% set pillar_is = pillar.own %}\n${inStates
            .map(
              ({ from, to }, at) =>
                `{% if grains.id == '${from}' %}\ns${at}:\n  test.configurable_test_state:\n    - changes: False\n    - result: True\n    - comment: {{ salt['mine.get']('${to}', 'address') | tojson | tojson }}\n{% endif %}\n`,
            )
            .join('')}`,
        });
        const max = `--max-procs=${places}`;
        config('mine_reach: roster\n');
        const ran = await project.run('*', 'state.apply', 'asks', max, '--timeout=30');
        expect({ code: ran.code, said: ran.code === 0 ? '' : ran.stdout }).toEqual({
          code: 0,
          said: '',
        });
      },
    ),
    { numRuns: 12 },
  );
}, 120_000);
