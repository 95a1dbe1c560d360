import { mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Config } from '../../../src/config/config.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { TsaltError } from '../../../src/protocol/error.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';

const project = (files: Readonly<Record<string, string>>): string => {
  const dir = mkdtempSync(join(tmpdir(), 'tsalt-config-'));
  onTestFinished(() => removeFolder(dir));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    writeFileSync(join(dir, name), text);
  }
  return dir;
};

const load = (text: string): Config =>
  loadConfig({ cwd: project({ 'tsalt.yaml': text }), env: {} });

const failure = (text: string) => {
  try {
    load(text);
  } catch (error) {
    if (error instanceof TsaltError)
      return { message: error.message, line: error.at?.line, hint: error.hint };
    throw error;
  }
  throw new Error('no error');
};

test('without a file a project folder just works, and nothing is written', () => {
  const dir = project({ 'roster.yaml': '', 'states/top.sls': '', 'pillar/top.sls': '' });
  const config = loadConfig({ cwd: dir, env: {} });
  expect(config).toMatchObject({
    dir,
    file_roots: { base: [join(dir, 'states')] },
    pillar_roots: { base: [join(dir, 'pillar')] },
    rosters: [{ backend: 'flat', source: join(dir, 'roster.yaml') }],
    renderer: 'liquid|yaml',
    ssh_max_procs: 25,
    state_output: 'full',
    state_verbose: true,
    cachedir: join(homedir(), '.cache', 'tsalt-ssh'),
  });
  expect(config.file).toBeUndefined();
  expect(readdirSync(dir).sort()).toEqual(['pillar', 'roster.yaml', 'states']);
});

test('pillar may live below the states, and a file called roster will do', () => {
  const dir = project({ roster: '', 'states/pillar/top.sls': '' });
  const config = loadConfig({ cwd: dir, env: {} });
  expect(config.pillar_roots).toEqual({ base: [join(dir, 'states', 'pillar')] });
  expect(config.rosters).toEqual([{ backend: 'flat', source: join(dir, 'roster') }]);
});

test('a folder without a roster has no rosters', () => {
  expect(loadConfig({ cwd: project({}), env: {} }).rosters).toEqual([]);
});

test('paths start at the file, wherever it is named from', () => {
  const dir = project({
    'etc/tsalt.yaml':
      'file_roots: {base: [../states, /srv/salt], dev: dev}\nroster_file: hosts\ncachedir: ~/c\nknown_hosts_file: kh\n',
  });
  for (const path of ['etc', 'etc/tsalt.yaml', join(dir, 'etc')])
    expect(loadConfig({ cwd: dir, path, env: {} })).toMatchObject({
      dir: join(dir, 'etc'),
      file: join(dir, 'etc', 'tsalt.yaml'),
      file_roots: { base: [join(dir, 'states'), '/srv/salt'], dev: [join(dir, 'etc', 'dev')] },
      rosters: [{ backend: 'flat', source: join(dir, 'etc', 'hosts') }],
      cachedir: join(homedir(), 'c'),
      known_hosts_file: join(dir, 'etc', 'kh'),
    });
});

test('the cache follows XDG_CACHE_HOME and the folder TSALT_CONFIG_DIR', () => {
  const dir = project({ 'tsalt.yaml': 'state_top: other.sls' });
  const config = loadConfig({
    cwd: '/',
    env: { XDG_CACHE_HOME: '/x/cache', TSALT_CONFIG_DIR: dir },
  });
  expect(config).toMatchObject({ cachedir: '/x/cache/tsalt-ssh', state_top: 'other.sls' });
});

test('rosters are listed by backend, by look, or by the names in roster', () => {
  const config = load('rosters:\n  - roster.d\n  - ansible: hosts.ini\n  - scan: 10.0.0.0/24\n');
  expect(config.rosters).toEqual([
    { backend: '', source: join(config.dir, 'roster.d') },
    { backend: 'ansible', source: join(config.dir, 'hosts.ini') },
    { backend: 'scan', source: '10.0.0.0/24' },
  ]);
  const named = load('roster: ansible,flat\nroster_file: hosts');
  expect(named.rosters.map(({ backend }) => backend)).toEqual(['ansible', 'flat']);
});

test('ssh options are defaults of roster entries, below roster_defaults', () => {
  const config = load(
    'ssh_user: root\nssh_port: 2222\nssh_passwd: hunter2\nroster_defaults: {user: deploy}\n',
  );
  expect([...config.roster_defaults]).toEqual([
    ['user', 'deploy'],
    ['port', 2222],
    ['passwd', 'hunter2'],
  ]);
});

test('options hold defaults, known and unknown keys, and no secrets', () => {
  const { options } = load(
    'ssh_passwd: hunter2\nroster_defaults: {passwd: hunter2}\ntest.foo: 1\nmine: {a: [b]}\nstate_output: mixed\n',
  );
  expect(options.get('test.foo')).toBe(1);
  expect(options.get('mine')).toEqual(new Map([['a', ['b']]]));
  expect(options.get('state_output')).toBe('mixed');
  expect(options.get('renderer')).toBe('liquid|yaml');
  expect(JSON.stringify([...options.entries()])).not.toContain('hunter2');
});

test('list nodegroups become list expressions', () => {
  const config = load(
    "nodegroups: {web: 'web* or G@role:web', all: [a, or, b]}\nssh_list_nodegroups:\n  db: [db1, db2]\n  x: a,b\n",
  );
  expect(config.nodegroups).toEqual({
    web: 'web* or G@role:web',
    all: ['a', 'or', 'b'],
    db: 'L@db1,db2',
    x: 'L@a,b',
  });
});

test.each([
  ['a: 1\nfile_rots: {}', "There is no option 'file_rots'.", 2, "Did you mean 'file_roots'?"],
  ['ssh_max_proc: 3', "There is no option 'ssh_max_proc'.", 1, "Did you mean 'ssh_max_procs'?"],
  [
    '\n\nssh_max_procs: many',
    "The value of 'ssh_max_procs' must be a whole number from 1 to 10000, not 'many'.",
    3,
    undefined,
  ],
  ['failhard: yep', "The value of 'failhard' must be true or false, not 'yep'.", 1, undefined],
  [
    'file_roots: states',
    "The value of 'file_roots' must be a mapping, not 'states'.",
    1,
    undefined,
  ],
  [
    'file_roots: {base: {a: b}}',
    "The value of 'file_roots' must be folders by environment, not a mapping.",
    1,
    undefined,
  ],
  [
    'top_file_merging_strategy: all',
    "The value of 'top_file_merging_strategy' must be one of merge, merge_all, same, not 'all'.",
    1,
    undefined,
  ],
  [
    'ext_pillar: [x]',
    "The value of 'ext_pillar' must be a list of 'name: arguments', not 'x'.",
    1,
    undefined,
  ],
  ['- a', 'The configuration must be a mapping of options.', 1, undefined],
  [
    'rosters: [{a: b, c: d}]',
    "The value of 'rosters' must be a list of files or of 'backend: file', not a mapping.",
    1,
    undefined,
  ],
])('%j is refused', (text, message, line, hint) => {
  expect(failure(text)).toEqual({ message, line, hint });
});

test('a YAML error names file, line and column', () => {
  const dir = project({ 'tsalt.yaml': 'a: 1\nb: [\n' });
  expect(() => loadConfig({ cwd: dir, env: {} })).toThrow(
    expect.objectContaining({ at: expect.objectContaining({ file: join(dir, 'tsalt.yaml') }) }),
  );
});

test('a folder that does not exist is named', () => {
  expect(() => loadConfig({ cwd: '/', path: 'nowhere', env: {} })).toThrow(
    'The configuration folder /nowhere does not exist.',
  );
});

test('a fault beside a secret shows the lines around it, and not the secret', () => {
  const text = 'vault:\n  auth:\n    token: s.hidden\n   role: x\n';
  let shown = '';
  try {
    load(text);
  } catch (error) {
    if (error instanceof TsaltError) shown = error.excerpt ?? '';
  }
  expect(shown).toMatch(/token: …\n.*role: x/);
  expect(shown).not.toContain('hidden');
});
