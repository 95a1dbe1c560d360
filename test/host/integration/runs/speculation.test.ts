// @module-tag slow
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Project, startProject } from '../../../helpers/project.ts';

let project: Project;
let root = '';

const color = (name: string): void => writeFileSync(join(root, 'color'), name);

beforeAll(async () => {
  project = await startProject({
    files: {
      'states/_grains/color.ts': `import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';

/** The colour of the host. */
export const color = () => ({ color: readFileSync(homedir() + '/color', 'utf8') });
`,
      'states/paint.sls': `#!jinja|yaml
{{ grains.root }}/painted:
  file.managed:
    - contents: "{{ grains.color }} {{ salt['cmd.run']('echo x >> ~/asked; wc -l < ~/asked') }}"
`,
      'states/process.sls': `{{ grains.root }}/process:
  file.managed:
    - contents: "{{ grains.pid }}"
`,
      'states/broken.sls': '{{ grains.color }: [\n',
      'states/store.sls': `#!jinja|yaml
{% do salt['sdb.set']('sdb://kept/' ~ grains.color, 'stored') %}
{{ grains.root }}/painted:
  file.managed:
    - contents: "{{ grains.color }}"
`,
      'tsalt.yaml':
        'known_hosts_file: known_hosts\ncachedir: cache\nkept: {driver: file, dir: kept}\n',
    },
  });
  root = project.hosts.web1?.root ?? '';
});
afterAll(() => project.close());

beforeEach(() => {
  color('red');
  for (const name of ['asked', 'painted', 'process']) rmSync(join(root, name), { force: true });
});

const apply = async (...args: string[]) => {
  const { code, stdout, stderr } = await project.run('-v', 'web1', 'state.apply', ...args);
  return { code, text: stdout + stderr, ahead: /render begun while the host started/.test(stderr) };
};
const painted = (): string => readFileSync(join(root, 'painted'), 'utf8').trim();
const asked = (): number => readFileSync(join(root, 'asked'), 'utf8').split('\n').length - 1;

test('the second run is rendered while the host starts, and asks the host as often as the first', async () => {
  const first = await apply('paint');
  const second = await apply('paint');

  expect(first, first.text).toMatchObject({ code: 0 });
  expect(second, second.text).toMatchObject({ code: 0, ahead: true });
  expect(painted()).toBe('red 2');
  expect(asked()).toBe(2);
});

test('a grain that changed since the last run is rendered as it is now, once', async () => {
  await apply('paint');
  color('blue');

  const changed = await apply('paint');
  const again = await apply('paint');

  expect(changed, changed.text).toMatchObject({ code: 0, ahead: false });
  expect(again, again.text).toMatchObject({ code: 0, ahead: true });
  expect(painted()).toBe('blue 3');
  expect(asked()).toBe(3);
});

test('the pid of the runtime is never that of an earlier run', async () => {
  await apply('process');
  const before = readFileSync(join(root, 'process'), 'utf8');

  const { ahead, text } = await apply('process');

  expect(ahead, text).toBe(false);
  expect(readFileSync(join(root, 'process'), 'utf8')).not.toBe(before);
  expect((await apply('paint')).ahead).toBe(true);
});

test('a rendering error is reported once, as in a first run', async () => {
  await apply('paint');
  const words = ['web1', 'state.apply', 'broken'];
  const first = await project.run(...words);
  const second = await project.run(...words);

  expect(first.code).not.toBe(0);
  expect(first.stdout).toMatch(/states\/broken.sls:1/);
  expect(second.stdout + second.stderr).toBe(first.stdout + first.stderr);
});

test('nothing is written on the control node for a host that is not as it was', async () => {
  await apply('store');
  rmSync(join(project.dir, 'kept'), { recursive: true });
  color('blue');

  const { code, text } = await apply('store');

  expect(code, text).toBe(0);
  expect(readdirSync(join(project.dir, 'kept'))).toEqual(['blue']);
  expect((await apply('store')).ahead).toBe(true);
});

test('a program that returns a part of the pillar is asked once, even if the host has changed', async () => {
  const settings = 'known_hosts_file: known_hosts\ncachedir: cache\n';
  const log = join(project.dir, 'programs');
  project.write({
    'states/_pillar/own.ts': `import { appendFileSync } from 'node:fs';
export const ext_pillar = (id: string, pillar: object, log: string) => {
  appendFileSync(log, 'own\\n');
  return { own: id };
};
`,
    'states/told.sls': `{{ grains.root }}/painted:
  file.managed:
    - contents: "{{ grains.color }} {{ pillar.own }} {{ pillar.told }}"
`,
    'tsalt.yaml': `${settings}ext_pillar:\n  - cmd_yaml: 'echo program >> ${log}; echo told: %s'\n  - own: ${log}\n`,
  });
  try {
    const runs = [await apply('told')];
    color('blue');
    runs.push(await apply('told'), await apply('told'));

    expect(runs.map(({ code, ahead }) => [code, ahead])).toEqual([
      [0, false],
      [0, false],
      [0, true],
    ]);
    expect(painted()).toBe('blue web1 web1');
    expect(readFileSync(log, 'utf8')).toBe('program\nown\n'.repeat(3));
  } finally {
    rmSync(join(project.dir, 'states/_pillar'), { recursive: true });
    project.write({ 'tsalt.yaml': settings });
  }
});

test("a function of the state module of one's own is called once", async () => {
  project.write({
    'states/_modules/state.ts': `import { appendFileSync } from 'node:fs';
import { homedir } from 'node:os';

/** Counts its calls. */
export const counted = () => appendFileSync(homedir() + '/asked', 'x\\n');
`,
  });
  try {
    expect((await project.run('web1', 'state.counted')).code).toBe(0);
    expect((await project.run('web1', 'state.counted')).code).toBe(0);
    expect(asked()).toBe(2);
  } finally {
    rmSync(join(project.dir, 'states/_modules'), { recursive: true });
  }
});

test('grains that were kept but make no sense cost nothing', async () => {
  const folder = join(project.dir, 'cache/grains');
  await apply('paint');
  for (const text of [
    '{"grains":{"a":1},"useless":7}',
    `{"grains":{"a":${'['.repeat(9000)}${']'.repeat(9000)}}}`,
    '[]',
    '{',
  ]) {
    for (const name of readdirSync(folder)) writeFileSync(join(folder, name), text);
    const { code, text: said } = await apply('paint');
    expect(code, said).toBe(0);
    expect(said).not.toMatch(/at .*\.[cm]?[jt]s:\d/);
  }
});

test('the grains are kept privately, and not at all without minion_data_cache', async () => {
  const folder = join(project.dir, 'cache/grains');
  const [kept = ''] = readdirSync(folder);
  expect(statSync(join(folder, kept)).mode & 0o777).toBe(0o600);
  rmSync(folder, { recursive: true });
  project.write({
    'tsalt.yaml': 'known_hosts_file: known_hosts\ncachedir: cache\nminion_data_cache: false\n',
  });

  const runs = [await apply('paint'), await apply('paint')];

  expect(runs.map(({ ahead }) => ahead)).toEqual([false, false]);
  expect(readdirSync(join(project.dir, 'cache'))).not.toContain('grains');
});
