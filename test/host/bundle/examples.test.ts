import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { buildArtifact } from '../../../src/bundle/artifact.ts';
import type { PlainDict } from '../../../src/protocol/plain.ts';
import { open } from '../../bundle/workshop.ts';
import { nothing } from '../../helpers/nothing.ts';

const dir = mkdtempSync(join(tmpdir(), 'tsalt-examples-'));
const artifact = buildArtifact({
  fileRoots: { base: [fileURLToPath(new URL('../../../states', import.meta.url))] },
  cacheDir: join(dir, 'cache'),
  runtime: fileURLToPath(new URL('../../bundle/runtime-for-tests.ts', import.meta.url)),
});

/** Calls states of the example modules as a host would. */
const host = async (
  opts: PlainDict = {},
  more: { grains?: PlainDict; context?: PlainDict } = {},
) => {
  const { registry, run } = open(await artifact);
  const state = (name: string, kwargs: PlainDict, test = false): Promise<unknown> =>
    run({ ...more, opts: { id: 'web1', saltenv: 'base', ...opts, test } }, async () => {
      const found = await registry.resolve('state', name);
      return found.ok ? found.call([], kwargs) : found.reason;
    });
  return { state, registry, run };
};

test('no example module is broken', { tags: 'slow' }, async () => {
  const own = (await artifact).modules.filter(({ builtin }) => !builtin);
  expect(own.length).toBeGreaterThan(6);
  expect(own.flatMap(({ broken }) => broken ?? [])).toEqual([]);
});

test('my_custom_state enforces a custom thing, and says so in test mode', {
  tags: 'slow',
}, async () => {
  const things = join(dir, 'things');
  const { state } = await host({ 'my_custom_module.dir': things });
  const thing = { name: 'a_value', foo: 'Foo', bar: false };
  expect(await state('my_custom_state.enforce_custom_thing', thing, true)).toEqual({
    name: 'a_value',
    result: null,
    changes: { old: null, new: 'Foo' },
    comment: 'The state of "a_value" will be changed.',
  });
  expect(await state('my_custom_state.enforce_custom_thing', thing)).toEqual({
    name: 'a_value',
    result: true,
    changes: { old: null, new: 'Foo' },
    comment: 'The state of "a_value" was changed!',
  });
  expect(readFileSync(join(things, 'a_value'), 'utf8')).toBe('Foo\n');
  expect(readdirSync(things)).toEqual(['a_value']);
  expect(await state('my_custom_state.enforce_custom_thing', thing)).toMatchObject({
    result: true,
    changes: nothing,
  });
  await expect(
    state('my_custom_state.enforce_custom_thing', { name: 'a_value', foo: 'Foo' }),
  ).rejects.toThrow('Argument "foo" cannot start with "Foo" if argument "bar" is True.');
});

test('cheese is there where enzymes are, and as configured', { tags: 'slow' }, async () => {
  const without = await host();
  expect(await without.state('cheese.sliced', { name: 'gouda' })).toBe(
    "'cheese' __virtual__ returned False: enzymes unavailable",
  );
  const context = {};
  const { state, registry, run } = await host(
    { 'cheese.allow_foreign': true },
    { grains: { enzymes: true }, context },
  );
  expect(await state('cheese.sliced', { name: 'brie', count: '2' })).toMatchObject({
    changes: { brie: { old: [], new: ['brie 1', 'brie 2'] } },
  });
  expect(await state('cheese.sliced', { name: 'brie', count: 2 })).toMatchObject({
    changes: nothing,
  });
  expect(await run({}, async () => registry.salt['cheese.list']?.())).toContain('brie');
});

test('a resource of an HTTP API: what describe says changes nothing when applied', async () => {
  const resources: Record<string, unknown> = { first: { size: 3, tags: { a: 'b' } } };
  const writes: string[] = [];
  const server = createServer(async (request, response) => {
    const name = decodeURIComponent(request.url?.split('/')[2] ?? '');
    let body = '';
    for await (const chunk of request) body += chunk;
    if (request.method !== 'GET') writes.push(`${request.method} ${name}`);
    if (request.method === 'PUT') resources[name] = JSON.parse(body);
    const answer = name === '' ? resources : resources[name];
    if (request.method === 'DELETE') delete resources[name];
    response.writeHead(answer === undefined ? 404 : 200).end(JSON.stringify(answer ?? null));
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const { state } = await host({ 'my_cloud.url': url });
    const made = await state('my_cloud.my_resource.present', { name: 'second', size: '2' });
    expect(made).toMatchObject({ result: true, comment: "Created 'second'" });
    const described = (await state('my_cloud.my_resource.describe', {})) as Record<
      string,
      Record<string, PlainDict[]>
    >;
    expect(Object.keys(described)).toEqual(['first', 'second']);
    writes.length = 0;
    for (const states of Object.values(described))
      for (const [fun, args] of Object.entries(states))
        expect(await state(fun, Object.assign({}, ...args))).toMatchObject({
          result: true,
          changes: nothing,
        });
    expect(writes).toEqual([]);
    expect(await state('my_cloud.my_resource.present', { name: 'first', size: 4 })).toMatchObject({
      changes: { old: { size: 3 }, new: { size: 4 } },
    });
    expect(resources.first).toEqual({ size: 4, tags: { a: 'b' } });
    expect(await state('my_cloud.my_resource.absent', { name: 'first' })).toMatchObject({
      result: true,
      changes: { old: { size: 4, tags: { a: 'b' } } },
    });
    expect(Object.keys(resources)).toEqual(['second']);
  } finally {
    server.close();
  }
});
