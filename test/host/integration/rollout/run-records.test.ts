// @module-tag slow
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Project, startProject } from '../../../helpers/project.ts';

let project: Project;

beforeAll(async () => {
  project = await startProject({
    hosts: ['web1', 'web2', 'web3'],
    files: {
      'states/work.sls': `#!jinja|yaml
test ! -e {{ grains.root }}/broken:
  cmd.run: []
`,
      'states/orch.sls': "all:\n  salt.state:\n    - tgt: '*'\n    - sls: work\n",
    },
  });
  const entries = Object.values(project.hosts).map(({ entry }) => entry);
  project.roster(`${entries.join('')}down1:\n  host: 127.0.0.1\n  port: 1\n  user: tester\n`);
});
afterAll(() => project.close());

const breakHost = (id: string): void =>
  writeFileSync(join(project.hosts[id]?.root ?? '', 'broken'), '');
const mend = (id: string): void => rmSync(join(project.hosts[id]?.root ?? '', 'broken'));
const folder = (): string => join(project.dir, 'cache/runs');
const json = ['--out=json', '--static'];
type Shown = { jid: string; exitCode: number; hosts: Record<string, string>; command: string };
const lastRun = async (): Promise<Shown> =>
  JSON.parse((await project.run('runs', 'show', '--out=json')).stdout) as Shown;
const idsOf = (stdout: string): string[] => Object.keys(JSON.parse(stdout) as object).toSorted();

test('a run is recorded with what came of each host, and --rerun repeats it on some of them', async () => {
  breakHost('web2');
  const first = await project.run('*', 'state.apply', 'work', ...json);
  expect(first.code).not.toBe(0);
  const record = await lastRun();
  expect(record.hosts).toEqual({
    web1: 'changed',
    web2: 'failed',
    web3: 'changed',
    down1: 'unreachable',
  });
  expect(record.exitCode).toBe(first.code);

  const failed = await project.run('--rerun', 'failed');
  expect(failed.code).toBe(20);
  expect((await lastRun()).hosts).toEqual({ web2: 'failed' });
  mend('web2');
  const mended = await project.run('--rerun', 'failed');
  expect({ code: mended.code, ids: idsOf(mended.stdout) }).toEqual({ code: 0, ids: ['web2'] });
  const changed = await project.run('--rerun', `changed@${record.jid}`);
  expect(idsOf(changed.stdout)).toEqual(['web1', 'web3']);
});

test('another call replaces the recorded one', async () => {
  const ran = await project.run('*', 'test.ping', '--rerun', 'changed', ...json);
  expect({ code: ran.code, answer: JSON.parse(ran.stdout) }).toEqual({
    code: 0,
    answer: { web1: true, web3: true },
  });
});

test('hosts that a run did not begin are skipped', async () => {
  breakHost('web1');
  await project.run('-L', 'web1,web2', 'state.apply', 'work', '-b', '1', '--max-fail', '1');
  mend('web1');
  expect((await lastRun()).hosts).toEqual({ web1: 'failed', web2: 'skipped' });
  const skipped = await project.run('--rerun', 'skipped', ...json);
  expect(idsOf(skipped.stdout)).toEqual(['web2']);
});

test('runs lists the runs of the project, the newest first', async () => {
  const { stdout, code } = await project.run('runs');
  expect(code).toBe(0);
  const lines = stdout.trimEnd().split('\n');
  expect(lines[0]).toMatch(
    /^\d{20} {2}[\d-]+T[\d:]+Z {2}[\d.]+ s {2}exit 0 {2}1 changed {2}tsalt-ssh /,
  );
  expect(lines.length).toBe(readdirSync(folder()).length);
});

test('records are private, and have no values and no secrets', async () => {
  await project.run('web1', 'cmd.run', 'echo value-of-host', 'password=hunter2');
  await project.run('web1', 'state.apply', 'work', 'pillar={key: hunter2}');
  expect(statSync(folder()).mode & 0o777).toBe(0o700);
  for (const file of readdirSync(folder())) {
    expect(statSync(join(folder(), file)).mode & 0o777).toBe(0o600);
    const text = readFileSync(join(folder(), file), 'utf8');
    expect(text).not.toContain('hunter2');
    expect(text).not.toContain('"stdout"');
  }
  const again = await project.run('--rerun', 'changed');
  expect(again.code).toBe(64);
  expect(again.stderr).toContain('were not recorded: they may be secrets');
});

test('a run that cannot be repeated is reported with what to do', async () => {
  const plan = join(project.dir, 'change.plan');
  await project.run('web1', 'state.apply', 'work', '--plan-out', plan);
  const planned = await project.run('--rerun', 'changed');
  expect(planned.code).toBe(64);
  expect(planned.stderr).toMatch(/would replace by one of fewer hosts\.\n.*--plan-out FILE/);
  expect((await project.run('apply', plan)).code).toBe(0);
  const [record] = JSON.parse((await project.run('runs', '--out=json')).stdout);
  expect(record.command).toBe(`tsalt-ssh apply ${plan}`);
  const applied = await project.run('--rerun', 'changed');
  expect(applied.code).toBe(64);
  expect(applied.stderr).toMatch(/applied a plan\.\n.*tsalt-ssh apply FILE/);
  await project.run('--orch', 'orch');
  const orchestrated = await project.run('*', 'test.ping', '--rerun', 'failed,changed');
  expect(orchestrated.stderr).toMatch(/was an orchestration\.\n.*runs its unfinished steps/);
  for (const [words, said] of [
    [['--rerun', 'faild'], "Did you mean 'failed'?"],
    [['--rerun', 'failed@123'], "There is no record of a run '123'."],
    [['runs', 'show', '123'], "There is no record of a run '123'."],
  ] as const) {
    const wrong = await project.run(...words);
    expect({ code: wrong.code, said: wrong.stderr }).toMatchObject({ code: 64 });
    expect(wrong.stderr).toContain(said);
  }
});
