import { getEventListeners } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
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
writeFileSync(join(dir, 'tsalt.yaml'), 'cachedir: cache\n');

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
