import { afterAll, beforeAll, expect, test } from 'vitest';
import { type HostileProject, startHostileProject } from '../../../helpers/hostile-host.ts';

let hostile: HostileProject;

beforeAll(async () => {
  hostile = await startHostileProject({
    yaml: 'file_roots: {base: [states], prod: [prod]}\npillar_roots: {base: [pillar]}\nfor_templates: 1\nmine.of_all: 1\n',
    files: {
      'pillar/top.sls': "base:\n  '*':\n    - role\n",
      'pillar/role.sls': 'role: web\n',
      'states/top.sls': "base:\n  '*':\n    - app\n",
      'states/app.sls': [
        'app:',
        '  file.recurse:',
        '    - name: /srv/app',
        '    - source: salt://app',
        '    - include_empty: true',
        '',
      ].join('\n'),
      'states/app/a/b.txt': 'b',
      'states/app/part.sls': '',
      'states/certs/web1.key': 'CANARY-KEY',
      'states/certs/init.sls': '',
      'prod/db.key': 'CANARY-PROD',
    },
  });
});
afterAll(() => hostile.close());

/** Runs the calls on the hostile host, while its states are to run. */
const called = async (
  calls: readonly (readonly [fun: string, args?: unknown[], kwargs?: object])[],
) => {
  hostile.attack({
    given: calls,
    script: async ({ method, given, ask, reply, tell }) => {
      if (method !== 'run') return;
      for (const [fun, args = [], kwargs = {}] of given) {
        const { value, error } = await ask('control.call', { fun, args, kwargs });
        tell(error ? { refused: error.message } : { value });
      }
      reply({ retcode: 0 });
    },
  });
  const { stdout } = await hostile.run(
    ...['--static', '--out', 'json', '*', 'state.apply', 'test=True'],
  );
  const { web1 } = JSON.parse(stdout) as Record<string, Record<string, { result: unknown }>>;
  // The honest host goes on.
  expect(Object.values(web1 ?? {}).map(({ result }) => result)).toEqual([null]);
  return hostile.told();
};

test('options that a host receives have no path of the control node', async () => {
  const names = 'file_roots pillar_roots cachedir config_dir conf_file renderer master'.split(' ');
  const told = await called([
    ['config.items'],
    ['config.option', ['*'], { wildcard: true }],
    ['config.get', ['mine.of_all']],
    ['pillar.items'],
    ['config.get', ['for_templates']],
    ...names.flatMap(name => [
      ['config.get', [name]] as const,
      ['config.merge', [name]] as const,
      ['config.option', [name]] as const,
    ]),
  ] as never);
  expect(JSON.stringify(told)).not.toContain(hostile.project.dir);
  expect(JSON.stringify(told)).not.toMatch(/file_roots|pillar_roots|cachedir|config_dir/);
  expect(told[0].value.id).toBe('bad');
  expect(told[2]).toEqual({ value: 1 });
  expect(told[3]).toEqual({ value: { role: 'web' } });
  expect(told[4]).toEqual({ value: '' });
});

test('a host lists what lies below the folders that its job names', async () => {
  const told = await called([
    ['cp.list_master'],
    ['cp.list_master', ['base', 'app/a']],
    ['cp.list_master_dirs'],
    ['cp.list_states'],
    ['cp.list_master', ['prod']],
    ['cp.list_master_symlinks', ['base', 'certs']],
    ['cp.list_master', ['base', 'certs']],
    ['cp.envs'],
  ]);
  expect(told.map(({ value }) => value)).toEqual([
    ['app/a/b.txt', 'app/part.sls'],
    ['app/a/b.txt'],
    ['app', 'app/a'],
    ['app.part'],
    [],
    {},
    [],
    undefined,
  ]);
});

test('a host calls no function that its job does not need; the run goes on', async () => {
  const told = await called([
    ['slsutil.deserialize', ['configparser', `[a]\nx${' '.repeat(2_000_000)}y`]],
    ['slsutil.findup', ['a/'.repeat(20_000), 'x']],
    ['match.pcre', ['(a+)+$']],
    ['slsutil.file_exists', ['x'.repeat(1_000_000)]],
    ['pillar.ext', [{ cmd_yaml: 'id' }]],
    ['slsutil.renderer', [], { string: '{{ 1 }}' }],
    ['sdb.get', ['sdb://secrets/web1']],
    ['vault.read_secret', ['x']],
    ['pillar.get', ['x'.repeat(1_000_000)]],
  ]);
  expect(told).toHaveLength(9);
  for (const one of told) expect(one.refused).toMatch(/host|not called by a state|which this run/);
});
