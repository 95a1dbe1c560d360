// @module-tag slow
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Project, startProject } from '../../../helpers/project.ts';

let project: Project;

beforeAll(async () => {
  project = await startProject({
    hosts: ['web1', 'web2', 'web3'],
    files: {
      'states/mixed.sls': `{% if grains.id == 'web1' %}
{{ grains.root }}/changed:
  file.managed:
    - contents: x
{% else %}
bad id {{ grains.id }}: 5
also bad:
  - nothing
{% endif %}
`,
      'states/slow.sls': `{% if grains.id == 'web2' %}{% assign command = 'sleep 2; date +%s%3N > ' | append: grains.root | append: '/compiled' %}{% assign done = 'cmd.run' | salt: command %}{% endif %}
stamp:
  cmd.run:
    - name: date +%s%3N > {{ grains.root }}/stamp
`,
    },
  });
});
afterAll(() => project.close());

type Event = {
  type: string;
  host?: string;
  phase?: string;
  result?: { id: string; retcode: number; problems?: unknown[] };
};
const eventsOf = (stdout: string): Event[] =>
  stdout
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as Event);

const root = (id: string): string => project.hosts[id]?.root ?? '';

test('all compile errors of any host are reported before one host is changed', async () => {
  const { code, stdout } = await project.run('*', 'state.apply', 'mixed', '--out', 'ndjson');
  const events = eventsOf(stdout);
  const firstStart = events.findIndex(event => event.type === 'state-start');
  const told = events.slice(0, firstStart).filter(event => event.type === 'host');
  expect(told.map(({ result }) => result?.id).sort()).toEqual(['web2', 'web3']);
  for (const { result } of told) expect(result?.problems).toHaveLength(2);
  expect(code).toBe(65);
  // Errors of other hosts do not stop a host.
  expect(existsSync(join(root('web1'), 'changed'))).toBe(true);
});

test('hosts begin to change together: none before the slowest has compiled', async () => {
  const { code, stdout, stderr } = await project.run(
    'web[12]',
    'state.apply',
    'slow',
    '--out',
    'ndjson',
  );
  expect(code, stdout + stderr).toBe(0);
  const compiled = Number(readFileSync(join(root('web2'), 'compiled'), 'utf8'));
  for (const id of ['web1', 'web2'])
    expect(Number(readFileSync(join(root(id), 'stamp'), 'utf8'))).toBeGreaterThanOrEqual(compiled);
});

test('with one process at a time no host waits for another', async () => {
  const { code, stdout, stderr } = await project.run(
    '*',
    'state.apply',
    'slow',
    '--max-procs',
    '1',
    '--out',
    'json',
    '--static',
  );
  expect(code, stdout + stderr).toBe(0);
  expect(Object.keys(JSON.parse(stdout) as object).sort()).toEqual(['web1', 'web2', 'web3']);
});

test('thirty hosts at once bring no warning of the runtime they run on', async () => {
  const entry = project.hosts.web1?.entry ?? '';
  const roster = readFileSync(join(project.dir, 'roster.yaml'), 'utf8');
  const many = Array.from({ length: 30 }, (_, at) => entry.replace('web1:', `many${at}:`));
  project.roster(many.join(''));
  const { code, stdout, stderr } = await project.run('many*', 'test.ping', '--out', 'txt');
  project.roster(roster);

  expect(stderr).toBe('');
  expect(code).toBe(0);
  expect(stdout.trim().split('\n')).toHaveLength(30);
});

test('several names of one host in one run take turns, and all are applied', async () => {
  const entry = project.hosts.web1?.entry ?? '';
  const roster = readFileSync(join(project.dir, 'roster.yaml'), 'utf8');
  const many = Array.from({ length: 5 }, (_, at) => entry.replace('web1:', `name${at}:`));
  project.roster(many.join(''));
  project.write({ 'states/turn.sls': 'turn:\n  cmd.run:\n    - name: sleep 0.2\n' });
  const { code, stdout } = await project.run('name*', 'state.apply', 'turn', '--out', 'ndjson');
  project.roster(roster);

  expect(code, stdout).toBe(0);
  const results = eventsOf(stdout).filter(({ type }) => type === 'host');
  expect(results.map(({ result }) => result?.retcode)).toEqual([0, 0, 0, 0, 0]);
});

test('--failhard lets running hosts finish and starts no other ones, which are named', async () => {
  const mark = join(project.dir, 'failed');
  project.write({
    'states/fails.sls': `first:
  cmd.run:
    - name: '{% if grains.id == 'web1' %}touch ${mark}; exit 1{% else %}until [ -e ${mark} ]; do sleep 0.1; done; sleep 3; touch {{ grains.root }}/finished{% endif %}'
`,
  });
  const words = ['*', 'state.apply', 'fails', '--failhard', '--max-procs=2', '--out=ndjson'];
  const { code, stdout, stderr } = await project.run(...words);
  const done = eventsOf(stdout).filter(({ type }) => type === 'host');
  expect(done.map(({ result }) => [result?.id, result?.retcode])).toEqual([
    ['web1', 2],
    ['web2', 0],
  ]);
  expect(existsSync(join(root('web2'), 'finished'))).toBe(true);
  expect(stdout + stderr).toContain('Not started, since 1 host failed: web3.');
  expect(code).toBe(20);
});
