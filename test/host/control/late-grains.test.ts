import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseArguments } from '../../../src/cli/parse.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { runFleet } from '../../../src/control/fleet/run.ts';
import type { HostResult } from '../../../src/protocol/event.ts';
import { openSdb } from '../../../src/request/open-sdb.ts';
import { makeRequest } from '../../../src/request/request.ts';
import { scratch } from '../../helpers/hosts.ts';
import { type Answer, memoryTransport, type Received } from '../../helpers/memory-host.ts';

const { path: dir, remove } = scratch('tsalt-late-grains');
const env = { ...process.env, HOME: dir };

beforeAll(() => {
  mkdirSync(join(dir, 'states'));
  writeFileSync(
    join(dir, 'tsalt.yaml'),
    'cachedir: cache\nfile_roots: {base: [states]}\nminion_data_cache: false\n',
  );
  writeFileSync(join(dir, 'roster.yaml'), 'web1: {host: 127.0.0.1, user: a}\n');
});
afterAll(remove);

type Ran = {
  readonly results: readonly HostResult[];
  readonly requests: readonly Received[];
  readonly answer: Answer | undefined;
};

/**
 * Runs `fun` on a host that asks for one of its grains before it answers, and sends `grains` when
 * it is asked for them.
 */
const run = async (fun: string, hello: unknown, grains: unknown): Promise<Ran> => {
  const requests: Received[] = [];
  let answer: Answer | undefined;
  const transport = memoryTransport(() => ({
    begin: end => end.greet({ protocol: 1, node: 'v22.0.0', pid: 2, grains: hello }),
    request: (message, end) => {
      const { id, method } = message;
      requests.push(message);
      if (method === 'grains') return end.message({ t: 'res', id, value: grains });
      const params = { fun: 'config.get', args: ['role'], kwargs: {} };
      void end.ask('control.call', params).then(given => {
        answer = given;
        end.message({ t: 'res', id, value: { value: true, retcode: 0 } });
      });
    },
  }));
  const config = loadConfig({ cwd: dir, env });
  const request = await makeRequest({
    given: parseArguments(['*', fun]),
    config,
    env,
    sdb: openSdb(config, env),
    ask: () => Promise.reject(new Error('nobody is there')),
  });
  const results: HostResult[] = [];
  await runFleet(
    request,
    event => void (event.type === 'host' && results.push(event.result)),
    new AbortController().signal,
    () => transport,
  );
  return { results, requests, answer };
};

const methods = ({ requests }: Ran): string[] => requests.map(({ method }) => method);

test('grains missing from the hello are requested before they are used', async () => {
  const ran = await run('test.ping', null, { role: 'web' });

  expect(methods(ran)).toEqual(['call', 'grains']);
  expect(ran.requests[0].params.needsNoGrains).toBe(true);
  expect(ran.answer).toEqual({ value: 'web' });
  expect(ran.results).toMatchObject([{ id: 'web1', value: true }]);
});

test('grains that are sent later must be a dict, as in the hello', async () => {
  const { answer, results } = await run('test.ping', null, ['role']);

  expect(answer?.error?.message).toContain('"grains"');
  expect(results).toMatchObject([{ id: 'web1', value: true }]);
});

test('the hello contains grains if the function may read them', async () => {
  const told = await run('test.attr_call', { role: 'web' }, {});
  expect(methods(told)).toEqual(['call']);
  expect(told.requests[0].params).not.toHaveProperty('needsNoGrains');

  const { results } = await run('test.attr_call', null, { role: 'web' });
  expect(results).toMatchObject([{ failure: { code: 'wire-version' } }]);
});
