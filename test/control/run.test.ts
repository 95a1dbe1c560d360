import { getEventListeners } from 'node:events';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openSdb } from '../../src/cli/open-sdb.ts';
import { parseArguments } from '../../src/cli/parse.ts';
import { makeRequest } from '../../src/cli/request.ts';
import { loadConfig } from '../../src/config/load.ts';
import { run } from '../../src/control/run.ts';
import type { HostResult } from '../../src/protocol/event.ts';
import { scratch } from '../helpers/hosts.ts';

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
  const results: HostResult[] = [];
  await run(request, event => void (event.type === 'host' && results.push(event.result)), signal);
  return [results, signal];
};

test.each([['test.ping'], ['state.show_sls', 'nothing'], ['state.apply', 'nothing']])(
  'a host that is done is held by nothing of the run: %s',
  async (...call) => {
    const [results, signal] = await carryOut('@local', ...call);
    expect(results.map(({ failure, retcode }) => [failure, retcode])).toEqual([[undefined, 0]]);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  },
);

test('what the options of the file server leave out of the roots is there for nobody', async () => {
  const [results] = await carryOut('@local', 'cp.list_master');
  expect(results.map(({ value }) => value)).toEqual([['nothing.sls']]);
  const [[found]] = await carryOut('@local', 'cp.get_file_str', 'salt://old.sls.bak');
  expect(JSON.stringify(found)).not.toContain('nobody should see this');
});
