import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { parseArguments } from '../../../src/cli/parse.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { runFleet } from '../../../src/control/fleet/run.ts';
import type { HostResult } from '../../../src/protocol/event.ts';
import { openSdb } from '../../../src/request/open-sdb.ts';
import { makeRequest } from '../../../src/request/request.ts';
import type { Transport } from '../../../src/transport/transport.ts';
import { scratch } from '../../helpers/hosts.ts';
import {
  type Answer,
  type FarEnd,
  memoryTransport,
  type Received,
} from '../../helpers/memory-host.ts';

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
  return { results: await runOver(transport, [fun]), requests, answer };
};

/** Runs a function on `web1` over a transport. */
const runOver = async (
  transport: Transport,
  args: readonly string[],
  cwd = dir,
): Promise<HostResult[]> => {
  const config = loadConfig({ cwd, env });
  const request = await makeRequest({
    given: parseArguments(['*', ...args]),
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
  return results;
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

describe('states that read no grains', () => {
  const { path: project, remove: removeProject } = scratch('tsalt-unread-grains');
  afterAll(removeProject);

  const sls = (name: string, text: string): void =>
    writeFileSync(join(project, 'states', `${name}.sls`), text);

  beforeAll(() => {
    mkdirSync(join(project, 'states'));
    writeFileSync(join(project, 'tsalt.yaml'), 'cachedir: cache\nfile_roots: {base: [states]}\n');
    writeFileSync(join(project, 'roster.yaml'), 'web1: {host: 127.0.0.1, user: a}\n');
    sls('plain', 'a:\n  test.nop: []\n');
  });

  const self = { protocol: 1, node: 'v22.0.0', pid: 2 };

  /** Runs `plain` on a host that greets with these grains; `serve` answers. */
  const apply = async (grains: unknown, serve: (message: Received, end: FarEnd) => void) => {
    const requests: Received[] = [];
    const transport = memoryTransport(() => ({
      begin: end => end.greet({ ...self, grains }),
      request: (message, end) => {
        requests.push(message);
        serve(message, end);
      },
    }));
    const results = await runOver(transport, ['state.apply', 'plain'], project);
    return { results, requests, methods: requests.map(({ method }) => method) };
  };

  const done = ({ id }: Received, end: FarEnd): void =>
    end.message({ t: 'res', id, value: { retcode: 0 } });
  const tells =
    (grains: unknown, serve = done): typeof done =>
    (message, end) =>
      message.method === 'grains'
        ? end.message({ t: 'res', id: message.id, value: grains })
        : serve(message, end);

  beforeEach(async () => {
    rmSync(join(project, 'cache/grains'), { recursive: true, force: true });
    sls('plain', 'a:\n  test.nop: []\n');
    const first = await apply({ role: 'web' }, done);
    expect(first.methods).toEqual(['run']);
    expect(first.requests[0].params.needsNoGrains).toBe(true);
  });

  test('begin without them when they run again', async () => {
    const { methods, results } = await apply(null, done);

    expect(methods).toEqual(['run']);
    expect(results).toMatchObject([{ id: 'web1', retcode: 0 }]);
    expect((await apply(null, done)).methods).toEqual(['run']);
  });

  test('use the grains of a host that sends them nevertheless', async () => {
    sls('plain', '{{ grains.role }}:\n  test.nop: []\n');
    const { methods, requests } = await apply({ role: 'database' }, done);

    expect(methods).toEqual(['run']);
    expect(requests[0].params.chunks[0].name).toBe('database');
  });

  test('ask for them if they read them now, and have them from the beginning later', async () => {
    sls('plain', '{{ grains.role }}:\n  test.nop: []\n');
    const { methods, requests } = await apply(null, tells({ role: 'database' }));

    expect(methods).toEqual(['grains', 'run']);
    expect(requests[1].params.chunks[0].name).toBe('database');
    const { results } = await apply(null, done);
    expect(results).toMatchObject([{ failure: { code: 'wire-version' } }]);
  });

  test('ask for them before a template calls the host: it may read them afterwards', async () => {
    sls('plain', "#!jinja|yaml\n{{ salt['cmd.run']('id') }} {{ grains.role }}:\n  test.nop: []\n");
    const answers = tells({ role: 'database' }, (message, end) =>
      message.method === 'call'
        ? end.message({ t: 'res', id: message.id, value: { value: 'root', retcode: 0 } })
        : done(message, end),
    );
    const { methods, requests } = await apply(null, answers);

    expect(methods).toEqual(['grains', 'call', 'run']);
    expect(requests[2].params.chunks[0].name).toBe('root database');
    // A host that is called collects its grains in any case.
    sls('plain', "#!jinja|yaml\n{{ salt['cmd.run']('id') }}:\n  test.nop: []\n");
    expect((await apply({ role: 'database' }, answers)).methods).toEqual(['call', 'run']);
    const { results } = await apply(null, answers);
    expect(results).toMatchObject([{ failure: { code: 'wire-version' } }]);
  });

  test('ask for them when the host asks for something that depends on them', async () => {
    let answer: Answer | undefined;
    const asks = (message: Received, end: FarEnd): void => {
      const params = { fun: 'config.get', args: ['role'], kwargs: {} };
      void end.ask('control.call', params).then(given => {
        answer = given;
        done(message, end);
      });
    };
    const { methods } = await apply(null, tells({ role: 'database' }, asks));

    expect(methods).toEqual(['run', 'grains']);
    expect(answer).toEqual({ value: 'database' });
  });

  test('fail if the host refuses to send them, or ends', async () => {
    sls('plain', '{{ grains.role }}:\n  test.nop: []\n');
    const lies = await apply(null, tells(['role']));
    expect(lies.methods).toEqual(['grains']);
    expect(lies.results).toMatchObject([{ failure: { code: 'wire-protocol' } }]);

    const ends = await apply(null, (_, end) => end.exit(1));
    expect(ends.methods).toEqual(['grains']);
    expect(ends.results).toMatchObject([{ failure: { code: 'runtime-ended' } }]);
  });

  test('are not begun without them where they never ran', async () => {
    rmSync(join(project, 'cache/grains'), { recursive: true });
    const { results } = await apply(null, done);
    expect(results).toMatchObject([{ failure: { code: 'wire-version' } }]);
  });

  test('are not begun without them under a configuration that disables states on the host', async () => {
    await apply({ role: 'web', state_runs_disabled: ['x.*'] }, done);
    const { results } = await apply(null, done);
    expect(results).toMatchObject([{ failure: { code: 'wire-version' } }]);
  });
});
