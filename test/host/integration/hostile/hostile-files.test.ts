import { afterAll, beforeAll, expect, test } from 'vitest';
import { type HostileProject, startHostileProject } from '../../../helpers/hostile-host.ts';

let hostile: HostileProject;

beforeAll(async () => {
  hostile = await startHostileProject({
    yaml: 'file_roots: {base: [states], prod: [prod]}\n',
    files: {
      'states/top.sls': "base:\n  '*':\n    - motd\n",
      'states/motd.sls': 'motd:\n  test.succeed_without_changes: []\n',
      'states/two.sls': ['salt://app', 'salt://key?saltenv=prod']
        .map((source, at) => `/etc/${at}:\n  file.managed:\n    - source: ${source}\n`)
        .join(''),
      'states/app': 'of base',
      'states/key': 'CANARY-BASE',
      'prod/app': 'CANARY-PROD',
      'prod/key': 'of prod',
    },
  });
});
afterAll(() => hostile.close());

test('a hostile host is driven by its script, beside an honest one', async () => {
  hostile.attack({
    grains: { os: 'Plan9' },
    given: 'salt://certs/web1.key',
    script: async ({ method, params, given, ask, reply, tell }) => {
      if (method !== 'run') return;
      tell(params.chunks.map((chunk: { name: string }) => chunk.name));
      tell((await ask('file.get', { path: given, saltenv: 'base' })).error?.code);
      reply({ retcode: 0 });
    },
  });
  const { stdout } = await hostile.run('--static', '--out', 'json', '*', 'state.apply');
  expect(hostile.told()).toEqual([['motd']]);
  const { web1, bad } = JSON.parse(stdout) as Record<string, Record<string, unknown>>;
  expect(Object.keys(web1 ?? {})).toHaveLength(1);
  expect(bad).toMatch(/asked for salt:\/\/certs\/web1\.key/);
});

test('a host fetches each file from the saltenv that its job names it in', async () => {
  for (const [path, saltenv] of [
    ['salt://app', 'prod'],
    ['salt://key', 'base'],
  ]) {
    hostile.attack({
      given: { path, saltenv },
      script: async ({ method, given, ask, reply, tell }) => {
        if (method !== 'run') return;
        for (const place of [
          { path: 'salt://app', saltenv: 'base' },
          { path: 'salt://key', saltenv: 'prod' },
          given,
        ])
          tell((await ask('file.get', place)).content ?? 'refused');
        reply({ retcode: 0 });
      },
    });
    const { stdout } = await hostile.run(
      ...['--static', '--out', 'json', '*', 'state.apply', 'two', 'test=True'],
    );
    expect(hostile.told().slice(0, 2)).toEqual(['of base', 'of prod']);
    expect(JSON.stringify(hostile.told())).not.toContain('CANARY');
    const { web1, bad } = JSON.parse(stdout) as Record<string, Record<string, unknown>>;
    expect(Object.keys(web1 ?? {})).toHaveLength(2);
    expect(bad).toMatch(/which its job does not name/);
  }
});
