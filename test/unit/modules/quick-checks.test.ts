import { createHash } from 'node:crypto';
import { mkdirSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { assert, asyncProperty, boolean, constantFrom, oneof, record } from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { PlainDict, StateReturn } from '../../../src/modules/api.ts';
import { directoryQuickly, managedQuickly } from '../../../src/modules/file/quick-checks.ts';
import type { QuickCheck } from '../../../src/modules/quick-check.ts';
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
    if (typeof comment !== 'string' || typeof inTest !== 'string') return;
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
    if (typeof comment !== 'string') return;
    count += 1;
    const ret = { name: args.name, changes: {}, result: true, comment };
    expect(await answers('file.directory', args, {})).toEqual([ret, ret]);
  });
  await assert(check, { numRuns: 1000 });
  expect(count).toBeGreaterThan(10);
});

/** What is new: each of them is removed before it is made again. */
const newEntry = constantFrom('new', 'folder/new', 'folder/new/', 'no/such/new', 'link/new');

const withoutTimes = (entries: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(entries).map(([path, entry]) => [path, entry.replace(/ \d{10,}(?:\.\d+)?/, '')]),
  );

/** The answer of a state where nothing is, and what it made there; the answer may be an error. */
const made = async (work: () => unknown): Promise<unknown[]> => {
  for (const name of ['new', 'folder/new', 'no'])
    rmSync(join(host.root, name), { recursive: true, force: true });
  const answer = await Promise.resolve()
    .then(work)
    .catch((error: unknown) => String(error));
  return [answer, withoutTimes(snapshot(host.root))];
};

/** Checks that what a quick check does for a new entry is what the function does. Returns whether it did anything. */
const isMadeAlike = async (
  fun: string,
  quickly: QuickCheck,
  args: PlainDict,
  context: PlainDict,
): Promise<boolean> => {
  const found = quickly(args, { env: 'base', test: false, context: context as never });
  if (typeof found !== 'function') return false;
  expect(quickly(args, { env: 'base', test: true, context: context as never })).toBeUndefined();
  // Each has a run of its own, which has used nothing of what came with it.
  const quick = await made(() => host.with({ context: { ...context } }).within(found));
  const { name, ...rest } = args;
  const byFunction = await made(() =>
    host.with({ context: { ...context } }).state(fun, String(name), rest),
  );
  // Where the work fails, the function is called.
  if (typeof quick[0] !== 'string') expect(quick).toEqual(byFunction);
  return typeof quick[0] !== 'string' && (quick[0] as StateReturn).result === true;
};

test('file.managed: a new file that the quick check makes is as the function makes it', async () => {
  const kinds = new Map<string, number>();
  host.control.set('same', 'one\n');
  const requiredKeys = { requiredKeys: ['name' as const] };
  const rest = { ...perms, makedirs: constantFrom(true, false) };
  const managed = oneof(
    record(
      { name: newEntry, contents: constantFrom('one', ['one', 'two'], ''), ...rest },
      requiredKeys,
    ),
    record(
      {
        name: newEntry,
        source: constantFrom('salt://same', 'salt://same?saltenv=base', 'salt://none', '/etc/none'),
        template: constantFrom('jinja', null, ''),
        context: constantFrom({ a: 1 }, null, {}),
        ...rest,
      },
      requiredKeys,
    ),
  );
  const check = asyncProperty(managed, boolean(), boolean(), async (values, isShort, isKnown) => {
    const args = given(values);
    const context = isKnown ? { __prefetch__: prefetchFor(args, isShort) } : {};
    const kind = `${'source' in args} ${Boolean(args.template)} ${isKnown && isShort}`;
    if (await isMadeAlike('file.managed', managedQuickly, args, context as never))
      kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  });
  await assert(check, { numRuns: 1500 });
  expect([...kinds.keys()].sort()).toEqual([
    'false false false',
    'false false true',
    'true false false',
    'true false true',
    'true true false',
    'true true true',
  ]);
});

test('file.directory: a new directory that the quick check makes is as the function makes it', async () => {
  let count = 0;
  const directory = record(
    {
      name: newEntry,
      ...perms,
      dir_mode: constantFrom(null, '0755', 700),
      makedirs: constantFrom(true, false),
    },
    { requiredKeys: ['name'] },
  );
  const check = asyncProperty(directory, async values => {
    if (await isMadeAlike('file.directory', directoryQuickly, given(values), {})) count += 1;
  });
  await assert(check, { numRuns: 500 });
  expect(count).toBeGreaterThan(100);
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
  const run = (more: PlainDict) =>
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
  const name = join(host.root, 'none');
  expect(run({ name })).toBeTypeOf('function');
  expect(run({ name, ...wrong })).toBeUndefined();
});

test('what file.accumulated collected for the file is left to the function', () => {
  const run = { env: 'base', test: false };
  const names = ['same', 'none'].map(entry => join(host.root, entry));
  for (const name of names) {
    const args = { name, contents: 'one' };
    expect(managedQuickly(args, { ...run, context: {} })).toBeDefined();
    const accumulated = { [args.name]: { lines: ['x'] } };
    expect(
      managedQuickly(args, { ...run, context: { 'file.accumulators': accumulated } }),
    ).toBeUndefined();
  }
});
