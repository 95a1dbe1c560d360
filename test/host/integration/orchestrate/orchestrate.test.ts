import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Project, startProject } from '../../../helpers/project.ts';

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
      - cat $HOME/token
    - kwarg: {python_shell: True}
    - require:
      - salt: database
web servers:
  salt.state:
    - tgt: 'web*'
    - sls: web
    - pillar:
        token: __slot__:salt:orch.result(secret, db1)
    - require:
      - salt: secret
`;

/** Orchestrations of one step, or of a few. */
const small: Readonly<Record<string, string>> = {
  broken: `first:
  salt.state:
    - tgt: db1
    - sls: mark
second:
  salt.state:
    - tgt: 'web*'
    - sls: not-yaml
`,
  nobody: `first:
  salt.state:
    - tgt: db1
    - sls: mark
second:
  salt.state:
    - tgt: 'mail*'
    - sls: mark
`,
  tainted: `where:
  salt.function:
    - name: cmd.run
    - tgt: db1
    - arg: [echo web1]
there:
  salt.function:
    - name: test.ping
    - tgt: __slot__:salt:orch.result(where, db1)
    - require: [{salt: where}]
`,
  systemd: `named like a grain of this machine:
  salt.state:
    - tgt: db1
    - sls: systemd
`,
  derived: `where:
  salt.function:
    - name: cmd.run
    - tgt: db1
    - arg: [echo 1]
there:
  salt.runner:
    - name: state.orchestrate
    - mods: orch.inner
    - pillar:
        number: __slot__:salt:orch.result(where, db1)
    - require: [{salt: where}]
`,
  inner: `#!jinja|yaml
there:
  salt.function:
    - name: test.ping
    - tgt: web{{ pillar.number }}
`,
  events: `ready:
  salt.wait_for_event:
    - name: 'myco/*/ready'
    - id_list: [web1, web2]
    - timeout: 20
    - parallel: True
announce:
  salt.function:
    - name: event.send
    - tgt: 'web*'
    - arg: [myco/web/ready]
`,
  late: `ready:
  salt.wait_for_event:
    - name: 'myco/never'
    - id_list: [web1]
    - timeout: 0.2
`,
  rolling: `rolling:
  salt.state:
    - tgt: '*'
    - sls: mark
    - batch: 1
    - subset: 2
`,
  allowed: `may fail:
  salt.state:
    - tgt: 'web*'
    - sls: fails
    - allow_fail: 2
after:
  salt.function:
    - name: test.ping
    - tgt: [web1]
    - require: [{salt: may fail}]
`,
  side: `both:
  salt.parallel_runners:
    - runners:
        one:
          - name: state.orchestrate
          - kwarg: {mods: orch.late}
        two:
          - name: state.orchestrate
          - kwarg: {mods: orch.allowed}
old:
  salt.runner:
    - name: manage.up
`,
  onfail: `work:
  salt.state:
    - tgt: db1
    - sls: fails
alarm:
  salt.function:
    - name: test.echo
    - tgt: web1
    - arg: [the database failed]
    - onfail: [{salt: work}]
`,
};

const files = {
  'states/orch/deploy.sls': deploy,
  ...Object.fromEntries(
    Object.entries(small).map(([name, text]) => [`states/orch/${name}.sls`, text]),
  ),
  'states/db.sls': `#!jinja|yaml
{{ grains.root }}/token:
  file.managed:
    - contents: made-on-db1
`,
  'states/web.sls': `#!jinja|yaml
{{ grains.root }}/app:
  file.managed:
    - contents: "{{ pillar.token }} {{ salt['orch.result']('secret', 'db1') }}"
    - onlyif: test ! -e {{ grains.root }}/broken
may this host work:
  cmd.run:
    - name: "test ! -e {{ grains.root }}/broken # {{ pillar.token }}"
`,
  'states/systemd.sls': 'fine:\n  test.nop\n',
  'states/mark.sls': `#!jinja|yaml
echo x >> {{ grains.root }}/marks:
  cmd.run
`,
  'states/fails.sls': 'never:\n  test.fail_without_changes\n',
  'states/not-yaml.sls': 'a: [\n',
};

beforeAll(async () => {
  project = await startProject({ hosts: ['db1', 'web1', 'web2'], files });
});
afterAll(() => project.close());
beforeEach(() => {
  for (const id of ['db1', 'web1', 'web2'])
    for (const file of ['app', 'marks', 'broken', 'token'])
      rmSync(join(rootOf(id), file), { force: true });
});

const rootOf = (id: string): string => project.hosts[id]?.root ?? '';
const has = (id: string, file: string): boolean => existsSync(join(rootOf(id), file));
const marks = (): number[] =>
  ['db1', 'web1', 'web2'].map(id =>
    has(id, 'marks') ? readFileSync(join(rootOf(id), 'marks'), 'utf8').split('\n').length - 1 : 0,
  );
const records = (): string[] => {
  const dir = join(project.dir, 'cache/orchestrations');
  return existsSync(dir) ? readdirSync(dir) : [];
};

type Result = { result: boolean | null; comment: string; changes: { ret?: object } };

/** Runs an orchestration; its results are by the IDs of their states. */
const orchestrate = async (
  ...words: string[]
): Promise<{ code: number; stderr: string; stdout: string; steps: Record<string, Result> }> => {
  const ran = await project.run('--orch', ...words, '--out=json', '--static');
  const { control } = JSON.parse(ran.stdout) as { control: Record<string, Result> };
  const steps = Object.fromEntries(
    Object.entries(control ?? {}).map(([tag, result]) => [tag.split('_|-')[1] ?? '', result]),
  );
  return { code: ran.code ?? -1, stderr: ran.stderr, stdout: ran.stdout, steps };
};

test('steps run in the order of their requisites and pass values on', {
  tags: 'slow',
}, async () => {
  const { code, steps } = await orchestrate('orch.deploy');
  expect(steps).toMatchObject({
    database: { result: true, comment: 'States ran successfully. Updating db1.' },
    secret: {
      comment: 'Function ran successfully. Function cmd.run ran on db1.',
      changes: { ret: { db1: 'made-on-db1' } },
    },
  });
  expect(steps['web servers']?.result).toBe(true);
  expect(Object.keys(steps['web servers']?.changes.ret ?? {}).toSorted()).toEqual(['web1', 'web2']);
  expect(readFileSync(join(rootOf('web2'), 'app'), 'utf8')).toBe('made-on-db1 made-on-db1\n');
  expect({ code, records: records() }).toEqual({ code: 0, records: [] });
});

test('@control state.orchestrate is the same; the usual output has the runs of the hosts in it', {
  tags: 'slow',
}, async () => {
  const { code, stdout } = await project.run('@control', 'state.orchestrate', 'orch.deploy');
  expect(code).toBe(0);
  expect(stdout).toMatch(/^control:\n/);
  expect(stdout).toMatch(/ {14}web1:\n {14}-+\n {24}ID: .*\/app\n/);
});

test('test mode predicts the steps and changes nothing', { tags: 'slow' }, async () => {
  const { code, steps } = await orchestrate('orch.deploy', 'test=True');
  expect(steps.database).toMatchObject({ result: null });
  expect(steps.secret).toMatchObject({
    result: null,
    comment: 'Function cmd.run would be executed on target db1',
  });
  expect(steps['web servers']).toMatchObject({ result: null });
  expect(JSON.stringify(steps['web servers'])).toContain('(result of secret on db1)');
  expect({ code, made: has('db1', 'token'), records: records() }).toEqual({
    code: 0,
    made: false,
    records: [],
  });
  const marked = await orchestrate('orch.rolling', 'test=True', '--expect-no-changes');
  expect(marked.code).toBe(21);
});

test('a step whose states do not compile stops the orchestration before its first change', async () => {
  const { code, stdout } = await project.run('--orch', 'orch.broken');
  expect(code).toBe(65);
  expect(stdout).toContain("Step 'second' (orch.broken) does not compile on ");
  expect(stdout).toContain('not-yaml');
  expect(marks()).toEqual([0, 0, 0]);
});

test('a step without any host stops the orchestration before its first change', async () => {
  const { code, stdout } = await project.run('--orch', 'orch.nobody');
  expect(code).toBe(65);
  expect(stdout).toContain("no host of the roster matches the target 'mail*'");
  expect(marks()).toEqual([0, 0, 0]);
});

test('data of a host do not choose the hosts of a step', async () => {
  const { code, steps } = await orchestrate('orch.tainted');
  expect(code).toBe(20);
  expect(steps.there?.comment).toContain('"web1" comes from a host (result of \'where\' on db1)');
});

test('a name made of what a host sends is refused, one that equals a grain of this machine is not', async () => {
  const derived = await orchestrate('orch.derived');
  expect(derived.steps.there).toMatchObject({ result: false });
  expect(JSON.stringify(derived.steps.there)).toContain(
    "comes from a host (result of 'where' on db1)",
  );
  expect((await orchestrate('orch.systemd')).code).toBe(0);
});

test('a step waits for the events of hosts, for a time', { tags: 'slow' }, async () => {
  const ready = await orchestrate('orch.events');
  expect(ready.code).toBe(0);
  expect(ready.steps.ready?.comment).toMatch(/^All events seen in [\d.]+ seconds\.$/);
  const seen = ready.steps.ready?.changes as { minions_seen: string[] };
  expect(seen.minions_seen.toSorted()).toEqual(['web1', 'web2']);
  const late = await orchestrate('orch.late');
  expect(late.steps.ready).toMatchObject({ result: false, comment: 'Timeout value reached.' });
});

test('subset takes as many hosts as it says; --limit holds for the hosts of steps', {
  tags: 'slow',
}, async () => {
  expect((await orchestrate('orch.rolling')).code).toBe(0);
  expect(marks().reduce((sum, count) => sum + count, 0)).toBe(2);
  rmSync(join(rootOf('db1'), 'marks'), { force: true });
  const { steps } = await orchestrate('orch.rolling', '--limit', 'db1');
  expect(Object.keys(steps.rolling?.changes.ret ?? {})).toEqual(['db1']);
});

test('allow_fail, onfail, nested orchestrations and runners', { tags: 'slow' }, async () => {
  const allowed = await orchestrate('orch.allowed');
  expect(allowed.code).toBe(0);
  expect(allowed.steps['may fail']?.comment).toMatch(/^States ran successfully\. Updating web/);
  const onfail = await orchestrate('orch.onfail');
  expect(onfail.steps.work?.comment).toBe('Run failed on minions: db1');
  expect(onfail.steps.alarm?.changes.ret).toEqual({ web1: 'the database failed' });
  const side = await orchestrate('orch.side');
  expect(side.steps.both).toMatchObject({
    result: false,
    comment: 'Runner one failed.\none: ready: Timeout value reached.',
  });
  expect(side.steps.old?.comment).toContain("The runner 'manage.up' needs a master");
});

test('after a failed step the others wait, and --resume runs only the rest', {
  tags: 'slow',
}, async () => {
  writeFileSync(join(rootOf('web2'), 'broken'), '');
  const failed = await orchestrate('orch.deploy');
  expect(failed.code).toBe(20);
  expect(failed.steps['web servers']?.comment).toBe('Run failed on minions: web2');
  const [, jid = ''] = /--resume (\d{20}) runs the others/.exec(failed.stderr) ?? [];
  const file = join(project.dir, 'cache/orchestrations', `${jid}.json`);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(statSync(join(project.dir, 'cache/orchestrations')).mode & 0o777).toBe(0o700);

  rmSync(join(rootOf('web2'), 'broken'));
  rmSync(join(rootOf('db1'), 'token'));
  const resumed = await orchestrate('orch.deploy', '--resume', jid);
  expect(resumed.code).toBe(0);
  expect(has('db1', 'token')).toBe(false);
  expect(readFileSync(join(rootOf('web2'), 'app'), 'utf8')).toBe('made-on-db1 made-on-db1\n');
  expect(Object.keys(resumed.steps)).toEqual(['database', 'secret', 'web servers']);
  expect(records()).not.toContain(`${jid}.json`);
  const again = await project.run('--orch', 'orch.deploy', '--resume', jid);
  expect({ code: again.code, stderr: again.stderr }).toMatchObject({ code: 64 });
  expect(again.stderr).toContain(`No orchestration '${jid}' can be resumed.`);
});

test('a step that changed since runs again', { tags: 'slow' }, async () => {
  writeFileSync(join(rootOf('web2'), 'broken'), '');
  const failed = await orchestrate('orch.deploy');
  const [, jid = ''] = /--resume (\d{20})/.exec(failed.stderr) ?? [];
  rmSync(join(rootOf('web2'), 'broken'));
  rmSync(join(rootOf('db1'), 'token'));
  project.write({
    'states/orch/deploy.sls': deploy.replace("tgt: 'db*'\n", "tgt: 'db*'\n    - queue: True\n"),
  });
  const resumed = await orchestrate('orch.deploy', '--resume', jid);
  project.write({ 'states/orch/deploy.sls': deploy });
  expect({ code: resumed.code, made: has('db1', 'token') }).toEqual({ code: 0, made: true });
});

test('steps are refused on a host', async () => {
  const applied = await project.run('web1', 'state.apply', 'orch.late');
  expect(applied.code).toBe(20);
  expect(applied.stdout).toContain('tsalt-ssh --orch SLS');
  const remote = await project.run('web1', 'state.orchestrate', 'orch.late');
  expect(remote.code).not.toBe(0);
  expect(remote.stdout + remote.stderr).toContain('tsalt-ssh --orch orch.late');
});

test('the events of a step are shown with their hosts, without what no_log hides', {
  tags: 'slow',
}, async () => {
  const ran = await project.run('--orch', 'orch.events', '--out=ndjson');
  const events = ran.stdout
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line) as { type: string; step?: string; event?: { host?: string } });
  const steps = events.filter(({ type }) => type === 'step');
  expect(new Set(steps.map(({ step }) => step))).toEqual(new Set(['announce']));
  expect(steps.some(({ event }) => event?.host === 'web2')).toBe(true);
  const sent = steps.map(({ event }) => event as { type?: string; tag?: string });
  expect(sent.filter(({ type }) => type === 'event')).toHaveLength(2);
  project.write({
    'states/hidden.sls': 'echo hunter2:\n  cmd.run:\n    - no_log: True\n',
    'states/orch/hidden.sls': "all:\n  salt.state:\n    - tgt: 'web1'\n    - sls: hidden\n",
  });
  const hidden = await project.run('--orch', 'orch.hidden', '--out=ndjson');
  const states = hidden.stdout.split('\n').filter(line => line.includes('hunter2_|-run'));
  expect(states.length).toBeGreaterThan(0);
  for (const line of states) expect(line).not.toMatch(/"stdout": ?"hunter2/);
  const shown = await project.run('--orch', 'orch.hidden', '--out=json');
  expect(shown.stdout).not.toMatch(/"stdout": ?"hunter2/);
});
