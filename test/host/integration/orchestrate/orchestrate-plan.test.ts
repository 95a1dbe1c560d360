// @module-tag slow
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Project, startProject } from '../../../helpers/project.ts';

const ids = ['db1', 'web1', 'web2'];
let project: Project;

const deploy = `database:
  salt.state:
    - tgt: 'db*'
    - sls: db
secret:
  salt.function:
    - name: cmd.run
    - tgt: db1
    - arg:
      - cat $HOME/made
    - kwarg: {python_shell: True}
    - require:
      - salt: database
web servers:
  salt.state:
    - tgt: 'web*'
    - sls: web
    - require:
      - salt: database
told servers:
  salt.state:
    - tgt: 'web*'
    - sls: told
    - pillar:
        password: __slot__:salt:orch.result(secret, db1)
    - require:
      - salt: secret
`;

const files = {
  'states/orch/deploy.sls': deploy,
  'states/orch/forced.sls':
    'forced:\n  salt.state:\n    - tgt: db1\n    - sls: db\n    - test: False\n',
  'states/orch/local.sls': `#!jinja|yaml
{{ opts.config_dir | default('.') }}/cache/here:
  file.managed:
    - contents: here
    - onchanges: [{salt: database}]
database:
  salt.state:
    - tgt: db1
    - sls: db
late one:
  salt.state:
    - tgt: web1
    - sls: late
    - require: [{salt: database}]
`,
  'states/db.sls': `#!jinja|yaml
{{ grains.root }}/made:
  file.managed:
    - contents: made-on-db1
`,
  'states/web.sls': `#!jinja|yaml
{{ grains.root }}/app:
  file.managed:
    - contents: version {{ pillar.get('version', 1) }}
{{ grains.root }}/copy:
  file.managed:
    - source: salt://copy.txt
`,
  'states/copy.txt': 'copied\n',
  'states/told.sls': `#!jinja|yaml
{{ grains.root }}/told:
  file.managed:
    - contents: "{{ pillar.password }}"
`,
  'states/late.sls': `#!jinja|yaml
{{ grains.root }}/late:
  file.managed:
    - contents: {{ salt['orch.result']('database', 'db1') | length }}
`,
};

beforeAll(async () => {
  project = await startProject({ hosts: ids, files });
});
afterAll(() => project.close());
beforeEach(() => {
  for (const id of ids)
    for (const file of ['made', 'app', 'copy', 'told', 'late'])
      rmSync(join(rootOf(id), file), { force: true });
});

const rootOf = (id: string): string => project.hosts[id]?.root ?? '';
const made = (id: string, file: string): string | undefined => {
  const path = join(rootOf(id), file);
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
};
/** What the hosts have of a deployment. */
const state = (): (string | undefined)[] => [
  made('db1', 'made'),
  ...['web1', 'web2'].flatMap(id => [made(id, 'app'), made(id, 'told')]),
];
const nothing = [undefined, undefined, undefined, undefined, undefined];
const all = ['made-on-db1\n', 'version 1\n', 'made-on-db1\n', 'version 1\n', 'made-on-db1\n'];
const plan = (...args: string[]) => project.run('--orch', 'orch.deploy', ...args);

test('a plan has the changes of all steps, and apply makes them with the states of the plan', async () => {
  const planned = await plan('--plan-out', 'deploy.plan');
  expect({ code: planned.code, state: state() }).toEqual({ code: 0, state: nothing });
  expect(planned.stderr).toContain('The plan of 4 steps is in deploy.plan.');
  expect(statSync(join(project.dir, 'deploy.plan')).mode & 0o777).toBe(0o600);

  const { stdout } = await project.run('show', 'deploy.plan');
  expect(stdout).toContain('@control state.orchestrate orch.deploy');
  expect(stdout).toContain('4 steps on 3 hosts: 3 would change; 1 step is compiled when run.');
  expect(stdout).toMatch(
    /Step database \(salt\.state on db1\)[\s\S]*\/made[\s\S]*Step secret \(salt\.function on db1\)\n {2}Function cmd\.run would be executed/,
  );
  expect(stdout).toMatch(
    /Step web servers \(salt\.state on web1, web2\)\n\nweb1:[\s\S]*web1\/app\n[\s\S]*web2:/,
  );
  expect(stdout).toMatch(
    /Step told servers \(salt\.state on web1, web2\)\n {2}Compiled when it runs: it needs the result of 'secret'\.\n/,
  );
  const json = JSON.parse((await project.run('show', 'deploy.plan', '--out=json')).stdout);
  expect(
    json.steps.map(({ id, hosts }: { id: string; hosts: string[] }) => [id, hosts.length]),
  ).toEqual([
    ['database', 1],
    ['secret', 1],
    ['web servers', 2],
    ['told servers', 2],
  ]);
  const markdown = await project.run('show', 'deploy.plan', '--out=markdown');
  expect(markdown.stdout).toContain('# Step web servers');
  const html = await project.run('show', 'deploy.plan', '--out=html');
  expect(html.stdout).toContain('web1 (web servers)');

  // The SLS of bound steps are not read again.
  project.write({ 'states/web.sls': 'a: [\n', 'states/orch/deploy.sls': 'a: [\n' });
  const applied = await project.run('apply', 'deploy.plan');
  project.write(files);
  expect({ code: applied.code, state: state() }).toEqual({ code: 0, state: all });

  const again = await project.run('apply', 'deploy.plan');
  expect(again.code).toBe(22);
  expect(again.stdout).toContain('No step was run.');
  expect(again.stdout).toContain('the plan is out of date: its changes are already in place');
});

test('a host that differs stops the plan before its first step, or only its own part', async () => {
  await plan('--plan-out', 'deploy.plan');
  writeFileSync(join(rootOf('web2'), 'app'), 'by hand\n');
  const stopped = await project.run('apply', 'deploy.plan');
  expect(stopped.code).toBe(22);
  expect(stopped.stdout).toContain(
    'web2 differs from the plan of the orchestration. No step was run.',
  );
  expect(stopped.stdout).toContain('by hand');
  expect(state()).toEqual([undefined, undefined, undefined, 'by hand\n', undefined]);

  const dry = await project.run('apply', 'deploy.plan', '--dry-run');
  expect({ code: dry.code, db: made('db1', 'made') }).toEqual({ code: 22, db: undefined });

  const partly = await project.run('apply', 'deploy.plan', '--drift=continue');
  expect(partly.code).toBe(20);
  expect(partly.stdout).toContain('Run failed on minions: web2');
  expect(state()).toEqual([
    'made-on-db1\n',
    'version 1\n',
    'made-on-db1\n',
    'by hand\n',
    'made-on-db1\n',
  ]);
});

test('apply --dry-run compares all steps and changes nothing', async () => {
  await plan('--plan-out', 'deploy.plan');
  const dry = await project.run('apply', 'deploy.plan', '--dry-run');
  expect({ code: dry.code, state: state() }).toEqual({ code: 0, state: nothing });
});

test('a changed file of a step refuses the plan before any connection', async () => {
  await plan('--plan-out', 'deploy.plan');
  project.write({ 'states/copy.txt': 'another\n' });
  const applied = await project.run('apply', 'deploy.plan');
  project.write(files);
  expect(applied.code).toBe(22);
  expect(applied.stderr).toContain('salt://copy.txt has changed');
  expect(state()).toEqual(nothing);
});

test('states whose SLS needs an earlier step are compiled when it runs; states here are bound too', async () => {
  const planned = await project.run('--orch', 'orch.local', '--plan-out', 'local.plan');
  expect(planned.code).toBe(0);
  const { stdout } = await project.run('show', 'local.plan');
  expect(stdout).toContain(
    "web1 is compiled when the step runs: it needs the result of 'database'.",
  );
  const applied = await project.run('apply', 'local.plan');
  expect({ code: applied.code, late: made('web1', 'late') }).toEqual({ code: 0, late: '1\n' });
  expect(applied.stdout).toContain('cache/here');
});

test('a step that says test: False is only predicted for a plan, and while it is compared', async () => {
  await project.run('--orch', 'orch.forced', '--plan-out', 'forced.plan');
  expect(made('db1', 'made')).toBe(undefined);
  await project.run('apply', 'forced.plan', '--dry-run');
  expect(made('db1', 'made')).toBe(undefined);
  const applied = await project.run('apply', 'forced.plan');
  expect({ code: applied.code, file: made('db1', 'made') }).toEqual({
    code: 0,
    file: 'made-on-db1\n',
  });
});

test('--ask --yes shows the steps and carries them out over the same connections', async () => {
  const logins = () => ids.map(id => project.hosts[id]?.server.counts.connections ?? 0);
  const before = logins();
  const asked = await plan('--ask', '--yes');
  expect({ code: asked.code, state: state() }).toEqual({ code: 0, state: all });
  expect(asked.stdout).toContain('Step web servers (salt.state on web1, web2)');
  expect(logins().map((count, at) => count - (before[at] ?? 0))).toEqual([1, 1, 1]);
  const unchanged = await project.run('--orch', 'orch.forced', '--ask', '--yes');
  expect(unchanged.code).toBe(0);
});

test('an expired plan is refused, and the rest of an orchestration has no plan', async () => {
  await plan('--plan-out', 'deploy.plan');
  const file = join(project.dir, 'deploy.plan');
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, text.replace(/"expires":"[^"]+"/, '"expires":"2020-01-01T00:00:00.000Z"'));
  const expired = await project.run('apply', 'deploy.plan');
  expect(expired.code).toBe(22);
  expect(expired.stderr).toContain('The plan expired');
  const rest = await plan('--plan-out', 'deploy.plan', '--resume', '20260101000000000000');
  expect(rest.code).toBe(64);
});
