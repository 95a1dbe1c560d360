import { afterAll, beforeAll, expect, test } from 'vitest';
import { type HostileProject, startHostileProject } from '../helpers/hostile-host.ts';

let hostile: HostileProject;

beforeAll(async () => {
  hostile = await startHostileProject({
    yaml: 'file_roots: {base: [states], prod: [prod]}\n',
    files: {
      'states/top.sls': "base:\n  '*':\n    - motd\n",
      'states/motd.sls': 'motd:\n  test.succeed_without_changes: []\n',
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
