import { getEventListeners } from 'node:events';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { parseArguments } from '../../../src/cli/parse.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { runFleet } from '../../../src/control/fleet/run.ts';
import type { HostResult, RunEvent } from '../../../src/protocol/event.ts';
import { openSdb } from '../../../src/request/open-sdb.ts';
import { makeRequest } from '../../../src/request/request.ts';
import { scratch } from '../../helpers/hosts.ts';

const { path: dir, remove } = scratch('tsalt-run');
afterAll(remove);
mkdirSync(join(dir, 'states'));
writeFileSync(join(dir, 'states', 'nothing.sls'), 'a:\n  test.nop: []\n');
writeFileSync(join(dir, 'states', 'old.sls.bak'), 'nobody should see this\n');
symlinkSync('nothing.sls', join(dir, 'states', 'link.sls'));
writeFileSync(
  join(dir, 'tsalt.yaml'),
  "cachedir: cache\nfile_ignore_glob: ['*.bak']\nfileserver_ignoresymlinks: true\n",
);

const carryOut = async (...argv: string[]): Promise<[HostResult[], AbortSignal]> => {
  const { events, signal } = await carryOutIn(dir, ...argv);
  return [events.flatMap(event => (event.type === 'host' ? [event.result] : [])), signal];
};

const carryOutIn = async (dir: string, ...argv: string[]) => {
  const env = { ...process.env, HOME: dir };
  const config = loadConfig({ cwd: dir, env });
  const request = await makeRequest({
    given: parseArguments(argv),
    config,
    env,
    sdb: openSdb(config, env),
    ask: () => Promise.reject(new Error('nobody is there')),
  });
  const { signal } = new AbortController();
  const events: RunEvent[] = [];
  await runFleet(request, event => void events.push(event), signal);
  return { events, signal };
};

test.each([['test.ping'], ['state.show_sls', 'nothing'], ['state.apply', 'nothing']])(
  'a host that is done is held by nothing of the run: %s',
  async (...call) => {
    const [results, signal] = await carryOut('@local', ...call);
    expect(results.map(({ failure, retcode }) => [failure, retcode])).toEqual([[undefined, 0]]);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  },
);

test("files that the file server's options exclude do not exist for anyone", async () => {
  const [results] = await carryOut('@local', 'cp.list_master');
  expect(results.map(({ value }) => value)).toEqual([['nothing.sls']]);
  const [[found]] = await carryOut('@local', 'cp.get_file_str', 'salt://old.sls.bak');
  expect(JSON.stringify(found)).not.toContain('nobody should see this');
});

test('modules lie in the folders that the configuration names; options that do nothing are named once', {
  tags: 'slow',
}, async () => {
  const other = join(dir, 'other');
  for (const [path, text] of Object.entries({
    'mods/mine.ts': "export const hello = () => 'mine';\n",
    'ext/modules/theirs.ts':
      "import { __grains__ } from 'tsalt-ssh/module';\nexport const hello = () => `theirs ${__grains__.ours}`;\n",
    'ext/grains/ours.ts': "export const ours = () => ({ ours: 'g' });\n",
    'tsalt.yaml':
      'cachedir: cache\nmodule_dirs: mods\nextension_modules: ext\nfileserver_backend: [roots]\nmaster_tops: {ext_nodes: x}\npillar_cache: false\n',
  })) {
    mkdirSync(dirname(join(other, path)), { recursive: true });
    writeFileSync(join(other, path), text);
  }
  for (const [fun, value] of [
    ['mine.hello', 'mine'],
    ['theirs.hello', 'theirs g'],
  ] as const) {
    const { events } = await carryOutIn(other, '@local', fun);
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'host', result: expect.objectContaining({ value }) }),
    );
    const told = events.flatMap(event =>
      event.type === 'log' && event.module === 'config' ? [event.message] : [],
    );
    expect(told).toEqual([
      "The option 'master_tops' has no effect: only the top file assigns states to hosts.",
    ]);
  }
});

test.each([
  ['file.read', ['/not/here'], 'The file /not/here cannot be read: there is none on this host'],
  ['file.read', ['/tmp'], 'The file /tmp cannot be read: it is a folder'],
] as const)('%s %j', async (fun, words, expected) => {
  const [[result]] = await carryOut('@local', fun, ...words);
  expect(String(result?.failure?.message ?? result?.value)).toContain(expected);
});
