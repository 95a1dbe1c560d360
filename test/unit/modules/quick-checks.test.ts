import { createHash } from 'node:crypto';
import { mkdirSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { assert, asyncProperty, boolean, constantFrom, oneof, record } from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { PlainDict } from '../../../src/modules/api.ts';
import { directoryQuickly, managedQuickly } from '../../../src/modules/file/quick-checks.ts';
import {
  type Prefetched,
  prefetchKey,
  renderRequest,
  templateArguments,
} from '../../../src/protocol/prefetch.ts';
import { makeHost, snapshot, type TestHost } from '../../states/runner.ts';

let host: TestHost;
let own: { uid: number; gid: number };
beforeAll(() => {
  host = makeHost();
  host.write('same', 'one\n');
  host.write('other', 'two\n', 0o600);
  mkdirSync(join(host.root, 'folder'), { mode: 0o755 });
  symlinkSync('same', join(host.root, 'link'));
  host.control.set('same', 'one\n');
  own = statSync(host.root);
});
afterAll(() => host.remove());

const hashed = (text: string): { sha256: string; size: number } => ({
  sha256: createHash('sha256').update(text).digest('hex'),
  size: text.length,
});

/** What comes with a run: the file `same`, and the result of the state's template. */
const prefetchFor = (args: PlainDict, isShort: boolean): Prefetched => {
  const source = String(args.source);
  const chunk = { ...args, state: 'file', fun: 'managed', __env__: 'base' };
  const key = prefetchKey(renderRequest(templateArguments(chunk as never, source), 'base'));
  const text = 'one\n';
  return {
    files: { 'base|same': { found: true, mode: 0o755, ...hashed(text) } },
    rendered: { [key]: { ...hashed(text), ...(isShort ? { text } : {}) } },
  };
};

/** What a function answers where all is as wanted, in test mode and outside of it. */
const answers = async (
  fun: string,
  { name, ...args }: PlainDict,
  context: PlainDict,
): Promise<unknown[]> => {
  const where = host.with({ context });
  return [await where.test(fun, String(name), args), await where.state(fun, String(name), args)];
};

const entry = constantFrom('same', 'other', 'folder', 'folder/', 'link', 'missing');
const perms = {
  user: constantFrom(null, '', 'root', 'nobody-of-this-name', () => own.uid),
  group: constantFrom(null, '', 'root', () => own.gid),
  mode: constantFrom(null, '0644', 644, '644', '0600', '0755', 'keep', ''),
};
const given = (values: Record<string, unknown>): PlainDict => {
  const args: PlainDict = { name: join(host.root, String(values.name)) };
  for (const [key, value] of Object.entries(values))
    if (key !== 'name' && value !== undefined)
      args[key] = (typeof value === 'function' ? value() : value) as never;
  if (values.name === 'folder/') args.name += '/';
  return args;
};

test('file.managed: what the quick check says, the function says too, and nothing changes', async () => {
  const before = snapshot(host.root);
  const kinds = new Map<string, number>();
  const rest = {
    ...perms,
    makedirs: constantFrom(true, false),
    backup: constantFrom('', 'minion', null),
  };
  const contents = constantFrom('one', 'one\n', ['one'], '', 'two');
  const source = constantFrom(
    'salt://same',
    'salt://same?saltenv=base',
    'salt://else',
    'http://same',
    ['salt://same'],
  );
  const rendered = {
    source,
    template: constantFrom('jinja', null, ''),
    context: constantFrom({ a: 1 }, null, {}),
  };
  const requiredKeys = { requiredKeys: ['name' as const] };
  const managed = oneof(
    record({ name: entry, contents, ...rest }, requiredKeys),
    record({ name: entry, ...rendered, ...rest }, requiredKeys),
    record({ name: entry, contents, ...rendered, ...rest }, requiredKeys),
  );
  const check = asyncProperty(managed, boolean(), async (values, isShort) => {
    const args = given(values);
    const context = { __prefetch__: prefetchFor(args, isShort) };
    const [comment, inTest] = [false, true].map(mode =>
      managedQuickly(args, { env: 'base', test: mode, context }),
    );
    if (comment === undefined || inTest === undefined) return;
    const kind = `${'source' in args} ${Boolean(args.template)} ${'contents' in args}`;
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    const ret = { name: args.name, changes: {}, result: true };
    expect(await answers('file.managed', args, context as never)).toEqual([
      { ...ret, comment: inTest },
      { ...ret, comment },
    ]);
  });
  await assert(check, { numRuns: 3000 });
  expect(snapshot(host.root)).toEqual(before);
  // Contents, a file, and a template are all answered quickly.
  expect([...kinds.keys()].sort()).toEqual([
    'false false true',
    'true false false',
    'true true false',
  ]);
  expect(Math.min(...kinds.values())).toBeGreaterThan(2);
});

test('file.directory: what the quick check says, the function says too', async () => {
  let count = 0;
  const directory = record(
    {
      name: entry,
      ...perms,
      dir_mode: constantFrom(null, '0755', 755, '0700'),
      makedirs: constantFrom(true, false),
      clean: constantFrom(true, false),
    },
    { requiredKeys: ['name'] },
  );
  const check = asyncProperty(directory, async values => {
    const args = given(values);
    const comment = directoryQuickly(args, { env: 'base', test: false, context: {} });
    if (comment === undefined) return;
    count += 1;
    const ret = { name: args.name, changes: {}, result: true, comment };
    expect(await answers('file.directory', args, {})).toEqual([ret, ret]);
  });
  await assert(check, { numRuns: 1000 });
  expect(count).toBeGreaterThan(10);
});

test.each([
  { mode: true },
  { user: ['root'] },
  { makedirs: 'yes' },
  { backup: 1 },
  { context: 'x' },
  { template: 5 },
  { replace: false },
  { attrs: 'i' },
  { unknown: 1 },
])('an argument that it does not know is left to the function: %j', wrong => {
  const args = { name: join(host.root, 'same'), source: 'salt://same', template: 'jinja' };
  const run = (more: PlainDict): string | undefined =>
    managedQuickly(
      { ...args, ...more },
      {
        env: 'base',
        test: false,
        context: { __prefetch__: prefetchFor({ ...args, ...more }, true) },
      },
    );
  expect(run({})).toMatch(/is in the correct state$/);
  expect(run(wrong)).toBeUndefined();
});

test('what file.accumulated collected for the file is left to the function', () => {
  const args = { name: join(host.root, 'same'), contents: 'one' };
  const run = { env: 'base', test: false };
  expect(managedQuickly(args, { ...run, context: {} })).toBeDefined();
  const accumulated = { [args.name]: { lines: ['x'] } };
  expect(
    managedQuickly(args, { ...run, context: { 'file.accumulators': accumulated } }),
  ).toBeUndefined();
});
