import { chmodSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Project, startProject } from '../../../helpers/project.ts';

let project: Project;
const ids = ['web1', 'web2', 'web3'];
const root = (id: string): string => project.hosts[id]?.root ?? '';
const conf = (id: string): string => join(root(id), 'app.conf');

beforeAll(async () => {
  project = await startProject({
    hosts: ids,
    files: {
      'states/top.sls': "base: {'*': [app]}\n",
      'states/app.sls': `#!jinja|yaml
conf:
  file.managed:
    - name: {{ grains.root }}/app.conf
    - contents: {{ salt['config.get']('word', 'listen 80') }}
    - mode: '0644'
{%- if salt['file.file_exists'](grains.root + '/broken') %}
broken:
  test.fail_without_changes: []
{%- endif %}
`,
      'states/other.sls': 'fine:\n  test.nop: []\n',
    },
  });
});
afterAll(() => project.close());
beforeEach(() => {
  rmSync(join(project.dir, 'cache/audits'), { recursive: true, force: true });
  for (const id of ids) {
    rmSync(join(root(id), 'broken'), { force: true });
    writeFileSync(conf(id), 'listen 80\n', { mode: 0o644 });
  }
});

type Shown = {
  previous?: string;
  hosts: Record<
    string,
    {
      outcome: string;
      states: number;
      drift: { id: string; name: string; isNew: boolean; since: string; changes: object }[];
      gone: { id?: string; since: string }[];
      failed: { id: string }[];
      reason?: string;
    }
  >;
  findings: { message: string; hosts: string[] }[];
};
const audit = async (...args: string[]) => {
  const { code, stdout, stderr } = await project.run('audit', ...args, '--out=json');
  return { code, stderr, ...(JSON.parse(stdout) as Shown) };
};
const outcomes = ({ hosts }: Shown) =>
  Object.fromEntries(Object.entries(hosts).map(([id, { outcome }]) => [id, outcome]));

test('an audit names what has drifted, since when, and what is mended', {
  tags: 'slow',
}, async () => {
  const first = await audit();
  expect({ code: first.code, outcomes: outcomes(first) }).toEqual({
    code: 0,
    outcomes: { web1: 'clean', web2: 'clean', web3: 'clean' },
  });
  expect(first.previous).toBeUndefined();

  writeFileSync(conf('web2'), 'listen 8080\n');
  const second = await audit();
  expect({ code: second.code, outcome: outcomes(second).web2 }).toEqual({
    code: 21,
    outcome: 'drifted',
  });
  const [found] = second.hosts.web2?.drift ?? [];
  expect(found).toMatchObject({ id: 'conf', name: conf('web2'), isNew: true });
  expect(JSON.stringify(found?.changes)).toContain('-listen 8080');
  expect(readFileSync(conf('web2'), 'utf8')).toBe('listen 8080\n');

  writeFileSync(conf('web3'), 'x\n');
  const third = await audit();
  expect(third.hosts.web2?.drift).toEqual([{ ...found, isNew: false }]);
  expect(third.hosts.web3?.drift[0]).toMatchObject({ isNew: true });

  await project.run('-L', 'web2', 'state.apply');
  const fourth = await audit();
  expect(fourth.hosts.web2).toMatchObject({
    outcome: 'clean',
    gone: [{ id: 'conf', since: found?.since }],
  });
  expect((await audit()).hosts.web2?.gone).toEqual([]);
});

test('a host that could not be asked keeps what is known of it', { tags: 'slow' }, async () => {
  await audit();
  writeFileSync(conf('web1'), 'x\n');
  const found = await audit();
  const [drift] = found.hosts.web1?.drift ?? [];
  const entries = Object.values(project.hosts).map(({ entry }) => entry);
  const down = 'web1:\n  host: 127.0.0.1\n  port: 1\n  user: tester\n';
  project.roster(down);
  const unreachable = await audit();
  expect(unreachable).toMatchObject({ code: 68, hosts: { web1: { outcome: 'unreachable' } } });
  expect(unreachable.hosts.web1?.gone).toEqual([]);
  project.roster(entries.join(''));
  expect((await audit()).hosts.web1?.drift).toEqual([{ ...drift, isNew: false }]);
});

test('a failed state is shown as failed, and a state that left the tree as gone', {
  tags: 'slow',
}, async () => {
  writeFileSync(join(root('web1'), 'broken'), '');
  const failed = await audit('web1');
  expect(failed.code).toBe(20);
  expect(failed.hosts.web1).toMatchObject({ outcome: 'failed', failed: [{ id: 'broken' }] });

  writeFileSync(conf('web2'), 'x\n');
  await audit('web2', 'app');
  const app = readFileSync(join(project.dir, 'states/app.sls'), 'utf8');
  project.write({ 'states/app.sls': app.replace('conf:\n', 'renamed:\n') });
  const renamed = await audit('web2', 'app');
  project.write({ 'states/app.sls': app });
  expect(renamed.hosts.web2?.gone).toEqual([{ since: expect.any(String) }]);
  expect(renamed.hosts.web2?.drift).toMatchObject([{ id: 'renamed', isNew: true }]);
});

test('audits of other SLS are not compared, and each host is compared with its own last one', {
  tags: 'slow',
}, async () => {
  writeFileSync(conf('web1'), 'x\n');
  expect((await audit('web1')).previous).toBeUndefined();
  expect((await audit('web*', 'other')).previous).toBeUndefined();
  const wide = await audit('web*');
  expect(wide.hosts.web1?.drift).toMatchObject([{ isNew: false }]);
  expect(wide.hosts.web2).toMatchObject({ outcome: 'clean', gone: [] });
});

test('the text has a line per host, equal differences once, and the command that mends them', {
  tags: 'slow',
}, async () => {
  for (const id of ['web1', 'web3']) writeFileSync(conf(id), 'x\n');
  const { stdout, stderr, code } = await project.run('audit');
  expect(code).toBe(21);
  expect(stdout).toMatch(/^Host +result +drift +new +failed +states\n/);
  expect(stdout).toMatch(/\nweb1 +drifted +1 +0 +0 +1\n/);
  expect(stdout).toMatch(/\nweb2 +clean +0 +0 +0 +1\n/);
  expect(stdout).toContain('3 hosts: 1 clean, 2 drifted.');
  expect(stdout).toContain('+listen 80');
  expect(stderr).toContain('To correct the drift: tsalt-ssh -L web1,web3 state.apply');
  const markdown = await project.run('audit', '--out=markdown');
  expect(markdown.stdout).toContain('| web1 | drifted | 1 | 0 | 0 | 1 |');
});

test('the kept record has no names of states and no values', async () => {
  writeFileSync(conf('web1'), 'hunter22\n');
  await audit();
  const folder = join(project.dir, 'cache/audits');
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  const [name = '', ...more] = readdirSync(folder);
  expect(more).toEqual([]);
  expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
  expect(readFileSync(join(folder, name), 'utf8')).not.toMatch(/conf|hunter22|listen/);
});

test('metrics replace the file as a whole and keep its mode', { tags: 'slow' }, async () => {
  const file = join(project.dir, 'tsalt.prom');
  writeFileSync(conf('web2'), 'x\n');
  await audit('--prometheus', file);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readFileSync(file, 'utf8')).toMatch(/^tsalt_audit_hosts\{outcome="drifted"\} 1$/m);
  expect(readFileSync(file, 'utf8')).toMatch(/^tsalt_audit_drifted_states\{host="web2"\} 1$/m);
  const { ino } = statSync(file);
  chmodSync(file, 0o644);
  await project.run('web2', 'state.apply');
  await audit('--prometheus', file);
  expect(statSync(file).mode & 0o777).toBe(0o644);
  expect(statSync(file).ino).not.toBe(ino);
  expect(readFileSync(file, 'utf8')).toMatch(/^tsalt_audit_hosts\{outcome="drifted"\} 0$/m);

  const missing = await audit('--prometheus', join(project.dir, 'no/such/folder/x.prom'));
  expect(missing).toMatchObject({ code: 74, stderr: expect.stringContaining('cannot be written') });
});

test('ignored arguments and unknown pillar keys are findings', async () => {
  project.write({
    'states/odd.sls':
      'odd:\n  test.nop:\n    - some_word: 1\n  cmd.run:\n    - name: "true"\n    - unless: "true"\n    - user_name: x\n',
    'pillar/top.sls': "base: {'*': [keys]}\n",
    'pillar/keys.sls': 'listen_prot: 80\n',
  });
  try {
    const { findings } = await audit('web1', 'other');
    expect(findings.map(({ message }) => message)).toEqual([
      expect.stringContaining("Nothing reads the pillar key 'listen_prot'"),
    ]);
    const strict = await project.run('audit', 'web1', 'odd', '--strict', '--out=json');
    expect(strict.code).not.toBe(0);
  } finally {
    rmSync(join(project.dir, 'pillar'), { recursive: true });
    rmSync(join(project.dir, 'states/odd.sls'));
  }
});

test('reports are written beside it, and an audit can become a plan', async () => {
  writeFileSync(conf('web1'), 'x\n');
  const made = await project.run(
    'audit',
    'web1',
    '--report=html=audit.html,junit=audit.xml',
    '--plan-out=fix.plan',
  );
  expect(made.code).toBe(21);
  expect(readFileSync(join(project.dir, 'audit.html'), 'utf8')).toContain('listen 80');
  const xml = readFileSync(join(project.dir, 'audit.xml'), 'utf8');
  expect(xml).toContain('failures="1"');
  expect(xml).toContain('<failure message=');
  expect((await project.run('apply', 'fix.plan')).code).toBe(0);
  expect(readFileSync(conf('web1'), 'utf8')).toBe('listen 80\n');
});

test.each([
  [['--ask'], 'An audit takes no --ask'],
  [['--detach'], 'An audit takes no --detach'],
  [['--out=htm'], 'An audit has no format'],
  [['web1', 'app', 'test=False'], 'exclude each other'],
])('%j is refused', async (args, message) => {
  const { code, stderr } = await project.run('audit', ...args);
  expect({ code, stderr }).toEqual({ code: 64, stderr: expect.stringContaining(message) });
});
