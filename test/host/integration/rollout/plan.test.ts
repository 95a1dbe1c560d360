import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { packageRoot } from '../../../helpers/cli.ts';
import { type Project, startProject } from '../../../helpers/project.ts';
import { type Sshd, startSshd } from '../../../helpers/sshd.ts';

const ids = ['web1', 'web2', 'web3'];
let project: Project;
let sshd: Sshd;
let round = 0;

const root = (id: string): string => join(project.dir, 'roots', String(round), id);
const conf = (id: string): string => readFileSync(join(root(id), 'app.conf'), 'utf8');
const read = (file: string): string => readFileSync(join(project.dir, file), 'utf8');

/** Three hosts behind one real sshd, each with folders of its own. */
const roster = (): string =>
  ids
    .map(
      id => `${id}:
  host: 127.0.0.1
  port: ${sshd.port}
  user: ${sshd.user}
  priv: ${sshd.key}
  thin_dir: ${join(project.dir, 'workspace', id)}
  grains: {root: ${root(id)}}
`,
    )
    .join('');

beforeAll(async () => {
  project = await startProject({
    hosts: [],
    files: {
      'states/web.sls': `#!jinja|yaml
app-conf:
  file.managed:
    - name: {{ grains.root }}/app.conf
    - source: salt://app.conf.j2
    - template: jinja
restarted:
  cmd.run:
    - name: echo restarted >> {{ grains.root }}/restarts
    - onchanges: [{file: app-conf}]
`,
      'states/app.conf.j2': 'listen 80\nworkers 2\n',
      'states/secret.sls': `#!jinja|yaml
key:
  file.managed:
    - name: {{ grains.root }}/key
    - contents: {{ pillar.db.password }}
`,
      'pillar/top.sls': "base: {'*': [db]}\n",
      'pillar/db.sls': 'db: {password: hunter22}\n',
    },
  });
  sshd = await startSshd({ dir: join(project.dir, 'sshd') });
  project.write({ known_hosts: `[127.0.0.1]:${sshd.port} ${sshd.hostKeys[0]}\n` });
});
afterAll(async () => {
  await sshd.close();
  await project.close();
});
beforeEach(() => {
  round += 1;
  for (const id of ids) {
    mkdirSync(root(id), { recursive: true });
    writeFileSync(join(root(id), 'app.conf'), 'listen 80\n', { mode: 0o644 });
  }
  project.write({ 'roster.yaml': roster(), 'states/app.conf.j2': 'listen 80\nworkers 2\n' });
});

const plan = (...args: string[]) => project.run('*', 'state.apply', ...args);
const apply = (...args: string[]) =>
  project.run('apply', 'web.plan', ...args, '--out=json', '--static');

test('a plan is applied to the hosts that are still as it was made, and only once', {
  tags: 'slow',
}, async () => {
  const made = await plan('web', '--plan-out', 'web.plan');
  expect(made).toMatchObject({ code: 0 });
  expect(made.stderr).toContain('tsalt-ssh apply web.plan');
  expect(statSync(join(project.dir, 'web.plan')).mode & 0o777).toBe(0o600);
  expect(ids.map(conf)).toEqual(ids.map(() => 'listen 80\n'));

  const shown = await project.run('show', 'web.plan');
  expect(shown.stdout).toMatch(/file\.managed .*web1\/app\.conf \(\+1 -0\)/);
  expect(shown.stdout).toContain('+workers 2');

  writeFileSync(join(root('web3'), 'app.conf'), 'listen 8080\n');
  const applied = await apply();
  expect(applied.code).toBe(22);
  expect(ids.map(conf)).toEqual([
    'listen 80\nworkers 2\n',
    'listen 80\nworkers 2\n',
    'listen 8080\n',
  ]);
  const results = JSON.parse(applied.stdout) as Record<string, string>;
  expect(results.web3).toContain('web3 differs from the plan');
  expect(results.web3).toMatch(
    /planned: would change[\s\S]*now: {5}would change[\s\S]*-listen 8080/,
  );
  expect(readFileSync(join(root('web1'), 'restarts'), 'utf8')).toBe('restarted\n');

  const again = await apply();
  expect(again.code).toBe(22);
  expect(again.stdout).toContain('the plan is out of date: its changes are already in place');
  expect(readFileSync(join(root('web1'), 'restarts'), 'utf8')).toBe('restarted\n');
});

test('equal changes are shown once for all hosts', { tags: 'slow' }, async () => {
  for (const id of ids) writeFileSync(join(root(id), 'x'), '');
  project.write({
    'states/same.sls': `${join(project.dir, 'same')}:\n  file.managed:\n    - contents: all\n`,
  });
  await plan('same', '--plan-out=same.plan');
  const { stdout } = await project.run('show', 'same.plan');
  expect(stdout).toContain('3 hosts alike: web1, web2, web3');
  expect(stdout.match(/\bfile\.managed\b/g)).toHaveLength(1);
  const json = JSON.parse((await project.run('show', 'same.plan', '--out=json')).stdout);
  expect(json.groups).toHaveLength(1);
  expect(json.groups[0].hosts).toEqual(ids);
  expect((await project.run('show', 'same.plan', '--out=markdown')).stdout).toContain(
    '## 3 hosts alike',
  );
  expect((await project.run('show', 'same.plan', '--out=html')).stdout).toContain('<html');
  expect((await project.run('show', 'same.plan', '--out=xml')).code).toBe(64);
});

test('apply sends the planned chunks although the states have changed', {
  tags: 'slow',
}, async () => {
  await plan('web', '--plan-out', 'web.plan');
  const sls = read('states/web.sls');
  project.write({ 'states/web.sls': sls.replace('echo restarted', 'echo other') });
  try {
    expect((await apply('--limit', 'web1')).code).toBe(0);
  } finally {
    project.write({ 'states/web.sls': sls });
  }
  expect(readFileSync(join(root('web1'), 'restarts'), 'utf8')).toBe('restarted\n');
  expect(conf('web2')).toBe('listen 80\n');
});

test('a changed source refuses the plan before any connection', async () => {
  await plan('web', '--plan-out', 'web.plan');
  project.write({ 'states/app.conf.j2': 'listen 81\n' });
  const { code, stderr } = await apply();
  expect(code).toBe(22);
  expect(stderr).toContain('salt://app.conf.j2 has changed');
  expect(ids.map(conf)).toEqual(ids.map(() => 'listen 80\n'));
});

test('a template that renders otherwise stops its host', async () => {
  project.write({ 'states/app.conf.j2': '{{ pillar.db.password | length }}\n' });
  await plan('web', '--plan-out', 'web.plan');
  const pillar = read('pillar/db.sls');
  project.write({ 'pillar/db.sls': 'db: {password: other-and-longer}\n' });
  try {
    const { code, stdout } = await apply();
    expect(code).toBe(22);
    expect(stdout).toContain('template salt://app.conf.j2');
  } finally {
    project.write({ 'pillar/db.sls': pillar });
  }
  expect(conf('web1')).toBe('listen 80\n');
});

test('--drift stop begins no other host, --drift continue does', { tags: 'slow' }, async () => {
  await plan('web', '--plan-out', 'web.plan');
  writeFileSync(join(root('web1'), 'app.conf'), 'by hand\n');
  const stopped = await apply('--max-procs', '1');
  expect(stopped.code).toBe(22);
  expect(stopped.stderr).toContain('Not started, since a host differs from the plan: web2, web3');
  expect(conf('web2')).toBe('listen 80\n');
  const went = await apply('--max-procs', '1', '--drift', 'continue');
  expect(went.code).toBe(22);
  expect(ids.map(conf)).toEqual(['by hand\n', 'listen 80\nworkers 2\n', 'listen 80\nworkers 2\n']);
});

test('a host without a plan is listed, and fails the run', { tags: 'slow' }, async () => {
  project.write({
    'roster.yaml': `${roster()}down1:\n  host: 127.0.0.1\n  port: 1\n  user: tester\n`,
  });
  const made = await plan('web', '--plan-out', 'web.plan');
  expect(made.code).toBe(68);
  expect((await project.run('show', 'web.plan')).stdout).toMatch(/Without a plan:\n {2}down1: /);
  expect((await apply()).code).toBe(0);
});

test('an expired plan, another version and other modules are refused', {
  tags: 'slow',
}, async () => {
  await plan('web', '--plan-out', 'web.plan', '--plan-expires', '30m');
  const text = read('web.plan');
  const { expires } = JSON.parse(text).plan as { expires: string };
  const left = Date.parse(expires) - Date.now();
  expect(left).toBeGreaterThan(20 * 60_000);
  expect(left).toBeLessThan(31 * 60_000);
  const refused = async (from: string | RegExp, to: string, message: string, code = 22) => {
    project.write({ 'web.plan': text.replace(from, to) });
    const result = await apply();
    expect({
      code: result.code,
      has: result.stderr.includes(message),
      stderr: result.stderr,
    }).toMatchObject({ code, has: true });
  };
  await refused(expires, '2020-01-01T00:00:00.000Z', 'expired');
  await refused(/"tsalt":"[^"]*"/, '"tsalt":"0.0.1"', 'made by tsalt-ssh 0.0.1');
  await refused(/"artifact":"[^"]*"/, `"artifact":"${'0'.repeat(64)}"`, 'other modules');
  await refused('"version":1', '"version":2', 'version 2 of the format', 65);
  await refused(/[\s\S]{100}$/, '', 'is not JSON', 65);
  await refused(/"chunks":\[\{/, '"chunks":[7,{', 'plan.chunks[0] is not a dictionary', 65);
  await refused(/"states":\[0/, '"states":[999', 'plan.hosts.web', 65);
  expect(ids.map(conf)).toEqual(ids.map(() => 'listen 80\n'));
});

test('a plan with secrets is written encrypted only', { tags: 'slow' }, async () => {
  const refused = await plan('secret', '--plan-out', 'secret.plan');
  expect(refused.code).toBe(64);
  expect(refused.stderr).toContain("argument 'contents'");
  expect(refused.stderr).toContain('--plan-recipient=age1KEY');
  expect(refused.stderr).not.toContain('hunter22');
  expect(() => read('secret.plan')).toThrow('ENOENT');
  const identity = await generateX25519Identity();
  const recipient = await identityToRecipient(identity);
  writeFileSync(join(project.dir, 'age.key'), `${identity}\n`, { mode: 0o600 });
  const made = await plan('secret', '--plan-out', 'secret.plan', '--plan-recipient', recipient);
  expect(made.code).toBe(0);
  expect(read('secret.plan')).not.toContain('hunter22');
  expect((await project.run('show', 'secret.plan')).stderr).toContain('--identity');
  const applied = await project.run('apply', 'secret.plan', '--identity', 'age.key');
  expect(applied.code).toBe(0);
  expect(readFileSync(join(root('web2'), 'key'), 'utf8').trim()).toBe('hunter22');
});

test.each([
  [['test.ping', '--plan-out', 'x'], 'No plan can be made of test.ping'],
  [['state.show_sls', 'web', '--plan-out', 'x'], 'No plan can be made of state.show_sls'],
  [['state.apply', 'web', 'test=False', '--plan-out', 'x'], 'exclude each other'],
  [['state.apply', '--plan-out', 'x', '--plan-expires', 'soon'], '--plan-expires'],
  [['state.apply', '--plan-out', 'x', '--plan-recipient', 'age1x'], 'not a recipient of age'],
  [['state.apply', '--ask'], '--ask needs a terminal'],
])('%j is refused', async (call, message) => {
  const { code, stderr } = await project.run('*', ...call);
  expect({ code: code === 64 || code === 77, has: stderr.includes(message), stderr }).toMatchObject(
    { code: true, has: true },
  );
});

test('a plan predicts what the test mode of Salt leaves out', async () => {
  project.write({
    'states/predicted.sls': `#!jinja|yaml
tsalt-new:
  group.present: [{gid: 60123}]
  user.present: [{shell: /bin/sh}, {fullname: New User}]
another-shell:
  user.present: [{name: daemon}, {shell: /bin/tsalt-shell}]
gone:
  user.absent: [{name: daemon}]
key:
  ssh_auth.present: [{name: AAAAC3NzaC1lZDI1NTE5AAAAIAAA}, {enc: ed25519}, {user: daemon}, {config: {{ grains.root }}/keys}]
swappiness:
  sysctl.present: [{name: vm.swappiness}, {value: 61}, {config: {{ grains.root }}/sysctl.conf}]
10.9.8.7:
  host.only: [{hostnames: [tsalt.example]}]
copied:
  file.copy: [{name: {{ grains.root }}/copied}, {source: {{ grains.root }}/app.conf}]
after:
  cmd.run: [{name: echo after}, {onchanges: [{group: tsalt-new}]}]
`,
  });
  const salts = await project.run('web1', 'state.apply', 'predicted', 'test=True', '--out=json');
  const usual = JSON.parse(salts.stdout).web1 as Record<string, { __id__: string }>;
  for (const state of Object.values(usual))
    expect(state).toMatchObject({ result: state.__id__ === 'after' ? true : null, changes: {} });
  await project.run('web1', 'state.apply', 'predicted', '--plan-out=p.plan');
  const shown = await project.run('show', 'p.plan', '--out=json');
  const [{ changes }] = JSON.parse(shown.stdout).groups as [
    { changes: { id: string; tag: string; changes: object }[] },
  ];
  const by = (fun: string, id: string) =>
    changes.find(one => one.id === id && one.tag.startsWith(`${fun}_|-`))?.changes;
  expect(by('group', 'tsalt-new')).toEqual({ name: 'tsalt-new', gid: 60123, members: [] });
  expect(by('user', 'tsalt-new')).toEqual({
    name: 'tsalt-new',
    shell: '/bin/sh',
    fullname: 'New User',
  });
  expect(by('user', 'another-shell')).toMatchObject({ shell: { new: '/bin/tsalt-shell' } });
  expect(by('user', 'gone')).toEqual({ daemon: 'removed' });
  expect(by('ssh_auth', 'key')).toEqual({ AAAAC3NzaC1lZDI1NTE5AAAAIAAA: 'New' });
  expect(by('sysctl', 'swappiness')).toEqual({ 'vm.swappiness': 61 });
  expect(by('host', '10.9.8.7')).toMatchObject({ '10.9.8.7': { new: 'tsalt.example' } });
  expect(by('file', 'copied')).toEqual({
    [join(root('web1'), 'copied')]: join(root('web1'), 'app.conf'),
  });
  expect(changes.find(one => one.id === 'after')).toMatchObject({ result: null });
});

test('a plan names the changes that the states then make', { tags: 'slow' }, async () => {
  const files = root('web1');
  const states: Record<string, string> = {
    forced: `file.symlink: [{name: ${files}/forced}, {target: /etc/hostname}, {force: true}]`,
    hard: `file.hardlink: [{name: ${files}/hard}, {target: ${files}/app.conf}, {force: true}]`,
    node: `file.mknod: [{name: ${files}/node}, {ntype: p}, {mode: '0600'}]`,
    moved: `file.rename: [{name: ${files}/moved}, {source: ${files}/old}]`,
    touched: `file.touch: [{name: ${files}/touched}]`,
    cached: `file.cached: [{name: 'salt://app.conf.j2'}]`,
    ran: 'cmd.run: [{name: echo ran}, {onchanges: [{file: node}, {file: forced}]}]',
  };
  for (const name of ['forced', 'hard', 'old']) writeFileSync(join(files, name), name);
  project.write({
    'states/kept.sls': Object.entries(states)
      .map(([id, state]) => `${id}:\n  ${state}\n`)
      .join(''),
  });
  const made = await project.run('web1', 'state.apply', 'kept', '--plan-out=kept.plan');
  expect(made.code, made.stderr).toBe(0);
  type Change = { id: string; changes: object };
  const shown = JSON.parse((await project.run('show', 'kept.plan', '--out=json')).stdout) as {
    groups: { changes: Change[] }[];
  };
  const applied = await project.run('apply', 'kept.plan', '--out=json');
  expect(applied.code, applied.stdout).toBe(0);
  const results = Object.values(
    (applied.json() as { web1: Record<string, { __id__: string; changes: object }> }).web1,
  );
  const keysOf = (list: readonly (readonly [string, object])[]) =>
    Object.fromEntries(
      list.filter(([id]) => id !== 'ran').map(([id, changes]) => [id, Object.keys(changes).sort()]),
    );
  const planned = shown.groups.flatMap(({ changes }) => changes);
  expect(planned.map(({ id }) => id).sort()).toEqual(Object.keys(states).sort());
  expect(keysOf(planned.map(({ id, changes }) => [id, changes]))).toEqual(
    keysOf(results.map(({ __id__, changes }) => [__id__, changes])),
  );
});

test('findings list ignored arguments and unread pillar keys, and --strict refuses them', async () => {
  project.write({
    'states/slips.sls': `${join(project.dir, 'slip')}:\n  file.managed: [{contents: x}, {colour: red}]\n`,
    'pillar/db.sls': 'db: {password: hunter22}\nlisten_prot: 80\n',
  });
  await plan('slips', '--plan-out', 'slips.plan');
  const { stdout } = await project.run('show', 'slips.plan');
  expect(stdout).toMatch(
    /Findings:[\s\S]*Nothing reads the pillar key 'listen_prot' \(.*db\.sls:2:1\)/,
  );
  expect(stdout).toMatch(/'colour' is not an argument of 'file\.managed'.*\(web1, web2, web3\)/);
  const strict = await plan('slips', '--plan-out', 'strict.plan', '--strict');
  expect(strict.code).toBe(65);
  expect(strict.stderr).toContain('No plan was written');
});

test('host-supplied data stays untrusted in its plan', async () => {
  project.write({
    'states/told.sls': `#!jinja|yaml
{{ grains.root }}/told:
  file.managed: [{contents: "{{ salt['cmd.run']('echo told-by-host') }}"}]
`,
  });
  await project.run('web1', 'state.apply', 'told', '--plan-out', 'told.plan');
  const { tainted } = JSON.parse(read('told.plan')).plan.hosts.web1 as {
    tainted: { text: string }[];
  };
  expect(tainted.map(({ text }) => text)).toContain('told-by-host');
  expect((await project.run('apply', 'told.plan')).code).toBe(0);
});

test('apply --dry-run compares and changes nothing; a budget of failures counts drift', {
  tags: 'slow',
}, async () => {
  await plan('web', '--plan-out', 'web.plan');
  expect((await apply('--dry-run')).code).toBe(0);
  expect(ids.map(conf)).toEqual(ids.map(() => 'listen 80\n'));
  writeFileSync(join(root('web2'), 'app.conf'), 'by hand\n');
  expect((await apply('--dry-run')).code).toBe(22);
  const rolled = await apply('-b', '1', '--drift', 'continue', '--max-fail', '1');
  expect(rolled.code).toBe(22);
  expect(ids.map(conf)).toEqual(['listen 80\nworkers 2\n', 'by hand\n', 'listen 80\n']);
});

test.each([
  ['n', 'Nothing was changed.', 'listen 80\n'],
  ['y', 'Succeeded', 'listen 80\nworkers 2\n'],
])('--ask asks at the terminal: %s', async (answer, said, content) => {
  const words = [
    ...[process.execPath, join(packageRoot, 'dist/tsalt-ssh.cjs'), '-c', project.dir],
    ...['web1', 'state.apply', 'web', '--ask'],
  ];
  const line = words.map(word => `'${word}'`).join(' ');
  const child = spawn('script', ['-qefc', line, '/dev/null'], {
    env: { PATH: process.env.PATH, HOME: join(project.dir, 'home'), TERM: 'xterm' },
  });
  let text = '';
  let isAnswered = false;
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk;
    if (isAnswered || !text.includes('Change this? [y/N]')) return;
    isAnswered = true;
    child.stdin.write(`${answer}\n`);
  });
  const [code] = await once(child, 'close');
  expect({ text, code }).toMatchObject({ text: expect.stringContaining(said), code: 0 });
  expect(text).toContain('+workers 2');
  expect(conf('web1')).toBe(content);
});

test('--ask --yes shows the changes and makes them over the same connections', async () => {
  const { code, stdout } = await plan('web', '--ask', '--yes', '--state-output=terse');
  expect(code).toBe(0);
  expect(stdout).toContain('3 hosts: 3 would change, 0 unchanged.');
  expect(ids.map(conf)).toEqual(ids.map(() => 'listen 80\nworkers 2\n'));
});
