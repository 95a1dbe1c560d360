import { createHash } from 'node:crypto';
import {
  chmodSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { LowChunk } from '../../../src/protocol/low.ts';
import {
  prefetchedFileKey,
  prefetchKey,
  renderRequest,
  templateArguments,
} from '../../../src/protocol/prefetch.ts';
import { ArrivingPrefetch } from '../../../src/runtime/session/arriving-prefetch.ts';
import { nothing } from '../../helpers/nothing.ts';
import { low } from '../../runtime/helpers/host-process.ts';
import { makeHost, type TestHost } from '../../states/runner.ts';
import { runThreeTimes, type StateCase } from '../../states/three-runs.ts';

let host: TestHost;
beforeEach(() => {
  host = makeHost({ pillar: { app: { motd: 'from pillar' } } });
});
afterEach(() => host.remove());

const cases: StateCase[] = [
  {
    title: 'managed changes content and shows the diff',
    fun: 'file.managed',
    before: { f: 'one\ntwo\nthree\n' },
    control: { 'a.txt': 'one\n2\nthree\n' },
    name: 'ROOT/f',
    args: [{ source: 'salt://a.txt' }],
    changes: { diff: '--- \n+++ \n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n' },
    testChanges: { diff: '--- \n+++ \n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n' },
    comment: 'File ROOT/f updated',
  },
  {
    title: 'managed makes a new file with a mode and the folders above it',
    fun: 'file.managed',
    name: 'ROOT/a/b/f',
    args: [{ contents: ['a', 'b'], mode: '0640', makedirs: true }],
    changes: { diff: 'New file', mode: '0640' },
    testChanges: { newfile: 'ROOT/a/b/f' },
    after: { 'a/b/f': 'a\nb\n' },
  },
  {
    title: 'managed renders a template on the control node',
    fun: 'file.managed',
    control: { 't.liquid': 'hello {{ who }}\n' },
    name: 'ROOT/f',
    args: [
      {
        source: 'salt://t.liquid',
        template: 'liquid',
        defaults: { who: 'x' },
        context: { who: 'world' },
        mode: 'keep',
      },
    ],
    after: { f: 'hello world\n' },
  },
  {
    title: 'managed takes the first source of a list that is there',
    fun: 'file.managed',
    control: { 'b.txt': 'b\n' },
    name: 'ROOT/f',
    args: [{ source: ['salt://none.txt', 'salt://b.txt'] }],
    after: { f: 'b\n' },
  },
  {
    title: 'managed takes contents from pillar',
    fun: 'file.managed',
    name: 'ROOT/f',
    args: [{ contents_pillar: 'app:motd' }],
    after: { f: 'from pillar\n' },
  },
  {
    title: 'directory sets modes of a tree',
    fun: 'file.directory',
    before: { 'd/x': '1', 'd/e/y': '2' },
    name: 'ROOT/d',
    args: [{ dir_mode: 711, file_mode: 600, recurse: ['mode'] }],
    changes: {
      mode: '0711',
      'ROOT/d': { mode: '0711' },
      'ROOT/d/x': { mode: '0600' },
      'ROOT/d/e': { mode: '0711' },
      'ROOT/d/e/y': { mode: '0600' },
    },
  },
  {
    title: 'directory cleans what no requisite keeps',
    fun: 'file.directory',
    before: { 'd/keep/x': '1', 'd/old/y': '2', 'd/z.tmp': '3' },
    name: 'ROOT/d',
    args: [{ clean: true, require: [{ file: 'ROOT/d/keep' }], exclude_pat: '*.tmp' }],
    comment: 'Files cleaned from directory ROOT/d',
  },
  {
    title: 'recurse copies a folder and cleans the rest',
    fun: 'file.recurse',
    before: { 'd/old': 'x' },
    control: { 'tree/a': 'a\n', 'tree/sub/b': 'b\n', 'tree/skip.bak': 'no' },
    name: 'ROOT/d',
    args: ['salt://tree', { clean: true, exclude_pat: '*.bak' }],
    after: { 'd/a': 'a\n', 'd/sub/b': 'b\n' },
  },
  {
    title: 'symlink is made',
    fun: 'file.symlink',
    name: 'ROOT/l',
    args: ['ROOT/f'],
    changes: { new: 'ROOT/l' },
  },
  {
    title: 'hardlink is made',
    fun: 'file.hardlink',
    before: { f: 'x' },
    name: 'ROOT/h',
    args: ['ROOT/f'],
  },
  { title: 'absent removes a tree', fun: 'file.absent', before: { 'd/e/f': 'x' }, name: 'ROOT/d' },
  {
    title: 'append adds what is missing, however it is spaced',
    fun: 'file.append',
    before: { f: 'a  b\nc' },
    name: 'ROOT/f',
    args: [{ text: ['a b', 'd'] }],
    after: { f: 'a  b\nc\nd\n' },
    comment: 'Appended 1 lines',
  },
  {
    title: 'prepend adds a header',
    fun: 'file.prepend',
    before: { f: 'c\n' },
    name: 'ROOT/f',
    args: [{ text: ['a', 'b'], header: true }],
    after: { f: 'a\nb\nc\n' },
  },
  {
    title: 'replace uses groups and keeps a backup',
    fun: 'file.replace',
    before: { f: 'Port 22\nUser x\n' },
    name: 'ROOT/f',
    args: ['^(?P<key>Port) 22$', '\\g<key> 2222'],
    after: { f: 'Port 2222\nUser x\n', 'f.bak': 'Port 22\nUser x\n' },
  },
  {
    title: 'replace appends what is not found',
    fun: 'file.replace',
    before: { f: 'a\n' },
    name: 'ROOT/f',
    args: ['^b=.*', 'b=1', { append_if_not_found: true, backup: false }],
    after: { f: 'a\nb=1\n' },
  },
  {
    title: 'line ensures a line after another',
    fun: 'file.line',
    before: { f: 'start\n  one\nend\n' },
    name: 'ROOT/f',
    args: [{ mode: 'ensure', content: 'two', after: 'one' }],
    after: { f: 'start\n  one\n  two\nend\n' },
  },
  {
    title: 'line deletes',
    fun: 'file.line',
    before: { f: 'a\nb\n' },
    name: 'ROOT/f',
    args: [{ mode: 'delete', match: '^b' }],
    after: { f: 'a\n' },
  },
  {
    title: 'line inserts at the end once',
    fun: 'file.line',
    before: { f: 'a' },
    name: 'ROOT/f',
    args: [{ mode: 'insert', content: 'z', location: 'end' }],
    after: { f: 'a\nz\n' },
  },
  {
    title: 'blockreplace replaces what is between the markers',
    fun: 'file.blockreplace',
    before: { f: 'x\n# S\nold\n# E\ny\n' },
    name: 'ROOT/f',
    args: [{ marker_start: '# S', marker_end: '# E', content: 'n1\nn2\n' }],
    after: { f: 'x\n# S\nn1\nn2\n# E\ny\n' },
  },
  {
    title: 'comment comments out',
    fun: 'file.comment',
    before: { f: 'a\nb\n' },
    name: 'ROOT/f',
    args: ['^b'],
    after: { f: 'a\n#b\n' },
  },
  {
    title: 'uncomment comments in',
    fun: 'file.uncomment',
    before: { f: 'a\n# b\n' },
    name: 'ROOT/f',
    args: ['b', { char: '# ' }],
    after: { f: 'a\nb\n' },
  },
  {
    title: 'keyvalue sets, uncomments and appends',
    fun: 'file.keyvalue',
    before: { f: 'A=1\n#B=2\n' },
    name: 'ROOT/f',
    args: [{ key_values: { A: '3', B: '2', C: 'x' }, uncomment: '#', append_if_not_found: true }],
    after: { f: 'A=3\nB=2\nC=x\n' },
  },
  {
    title: 'serialize writes JSON with sorted keys',
    fun: 'file.serialize',
    name: 'ROOT/f',
    args: [{ dataset: { b: [1, null], a: 'ü' }, serializer: 'json' }],
    after: { f: '{\n  "a": "ü",\n  "b": [\n    1,\n    null\n  ]\n}\n' },
  },
  {
    title: 'serialize writes YAML with sorted keys',
    fun: 'file.serialize',
    name: 'ROOT/f',
    args: [{ dataset: { b: [1, { x: 'yes', y: [] }], a: { c: "it's" } } }],
    after: { f: "a:\n  c: it's\nb:\n- 1\n- x: 'yes'\n  y: []\n" },
  },
  {
    title: 'serialize merges into what is there',
    fun: 'file.serialize',
    before: { f: '{"a": 1, "k": {"x": 1}}' },
    name: 'ROOT/f',
    args: [{ dataset: { k: { y: 2 } }, formatter: 'json', merge_if_exists: true }],
    changes: { diff: { k: { y: { old: null, new: 2 } } } },
  },
  {
    title: 'copy copies once',
    fun: 'file.copy',
    before: { f: 'x' },
    name: 'ROOT/g',
    args: ['ROOT/f'],
    after: { g: 'x' },
  },
  {
    title: 'rename moves once',
    fun: 'file.rename',
    before: { f: 'x' },
    name: 'ROOT/n/g',
    args: ['ROOT/f', { makedirs: true }],
    after: { 'n/g': 'x' },
  },
  {
    title: 'decode writes base64',
    fun: 'file.decode',
    name: 'ROOT/f',
    args: [{ encoded_data: 'aGk=' }],
    after: { f: 'hi' },
  },
  {
    title: 'tidied removes by name',
    fun: 'file.tidied',
    before: { 'd/a.gz': '1', 'd/b': '2' },
    name: 'ROOT/d',
    args: [{ matches: ['.*gz$'] }],
    changes: { removed: ['ROOT/d/a.gz'] },
  },
  {
    title: 'pruned removes empty folders',
    fun: 'file.pruned',
    before: {},
    name: 'ROOT/.cache',
    args: [{ recurse: true }],
  },
  {
    title: 'retention_schedule keeps the newest',
    fun: 'file.retention_schedule',
    before: { 'd/b-2024-01-01': '', 'd/b-2024-01-02': '', 'd/b-2024-02-01': '', 'd/other': '' },
    name: 'ROOT/d',
    args: [{ first_of_month: 2 }, { strptime_format: 'b-%Y-%m-%d' }],
    changes: {
      retained: ['b-2024-02-01', 'b-2024-01-01'],
      deleted: ['b-2024-01-02'],
      ignored: ['other', '..', '.'],
    },
  },
];

test.each(cases)('$title: test mode and a second run change nothing', async one => {
  mkdirSync(join(host.root, '.cache/empty'), { recursive: true });
  await runThreeTimes(host, one);
});

test('an unchanged managed file requests nothing if control sent its hash before', async () => {
  host.control.set('a', 'text\n').set('t', 'x={{ x }}\n');
  const request = renderRequest(
    { name: `${host.root}/t`, source: 'salt://t', template: 'liquid', context: { x: 1 } },
    'base',
  );
  const run = async (where: TestHost) => [
    await where.state('file.managed', `${host.root}/a`, { source: 'salt://a' }),
    await where.state('file.managed', `${host.root}/t`, {
      source: 'salt://t',
      template: 'liquid',
      context: { x: 1 },
    }),
  ];
  await run(host);
  const sha = (text: string) => createHash('sha256').update(text).digest('hex');
  const prefetch = {
    files: {
      [prefetchedFileKey('salt://a', 'base')]: { found: true, sha256: sha('text\n'), size: 5 },
    },
    rendered: { [prefetchKey(request)]: { sha256: sha('x=1\n'), size: 4 } },
  };
  host.asked.length = 0;
  const results = await run(host.with({ context: { __prefetch__: prefetch } }));
  expect(results.map(({ changes }) => changes)).toEqual([{}, {}]);
  expect(host.asked).toEqual([]);
});

test('managed writes the text of a template that came with the run, without a request', async () => {
  const template = (name: string) =>
    renderRequest({ name: `${host.root}/${name}`, source: 'salt://t', template: 'jinja' }, 'base');
  const known = (text: string) => ({
    sha256: createHash('sha256').update(text).digest('hex'),
    size: text.length,
  });
  const __prefetch__ = {
    rendered: {
      [prefetchKey(template('small'))]: { ...known('small\n'), text: 'small\n' },
      [prefetchKey(template('large'))]: known('rendered\n'),
    },
  };
  host.control.set('t', 'rendered\n');
  const after = host.with({ context: { __prefetch__ } });
  const options = { source: 'salt://t', template: 'jinja' };
  await after.state('file.managed', `${host.root}/small`, options);
  expect(host.file('small')).toBe('small\n');
  expect(host.asked).toEqual([]);
  await after.state('file.managed', `${host.root}/large`, options);
  expect(host.file('large')).toBe('rendered\n');
  expect(host.asked).toHaveLength(1);
});

test('managed: files of a piece that arrives while states run are requested before their states', async () => {
  const chunk = (name: string, options: object) => ({
    ...low('file.managed', `${host.root}/${name}`),
    __env__: 'base',
    ...options,
  });
  const about = (text: string) => ({
    sha256: createHash('sha256').update(text).digest('hex'),
    size: text.length,
  });
  const template = { source: 'salt://t', template: 'jinja' };
  const first = chunk('first', template);
  const second = chunk('second', { source: 'salt://plain' });
  const key = prefetchKey(renderRequest(templateArguments(first, 'salt://t'), 'base'));
  const prefetch = new ArrivingPrefetch({
    chunks: [first, second],
    prefetch: {
      files: { [prefetchedFileKey('salt://plain', 'base')]: { found: true, ...about('plain\n') } },
      rendered: { [key]: about('rendered\n') },
    },
    rendering: { run: 1, covered: 1 },
  });
  host.control.set('t', 'rendered\n');
  // As requested before its state.
  host.control.set('salt://plain', 'plain\n');
  const after = host.with({ context: { __prefetch__: prefetch } });
  await after.state('file.managed', `${host.root}/first`, template);
  expect(host.asked).toEqual(['file.render']);
  prefetch.add({ run: 1, rendered: {}, covered: 2 });
  await expect.poll(() => host.asked).toEqual(['file.render', 'file.get']);
  await after.state('file.managed', `${host.root}/second`, { source: 'salt://plain' });
  expect(host.file('second')).toBe('plain\n');
  expect(host.asked).toHaveLength(2);
});

test('a large source arrives in a temporary file beside its place, and leaves nothing else', async () => {
  const large = Buffer.alloc(5 * 1024 * 1024, 'x');
  host.control.set('big', large);
  mkdirSync(join(host.root, 'd'));
  const result = await host.state('file.managed', `${host.root}/d/big`, { source: 'salt://big' });
  expect(result.result).toBe(true);
  expect(readdirSync(join(host.root, 'd'))).toEqual(['big']);
  expect(statSync(join(host.root, 'd/big')).size).toBe(large.length);
});

test('writes go through symlinks and keep hard links and mode', async () => {
  const file = host.write('f', 'a\n', 0o600);
  symlinkSync(file, join(host.root, 'l'));
  await host.state('file.managed', `${host.root}/l`, { contents: 'b' });
  expect(readlinkSync(join(host.root, 'l'))).toBe(file);
  expect(host.file('f')).toBe('b\n');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  linkSync(file, join(host.root, 'h'));
  await host.state('file.append', `${host.root}/h`, { text: 'c' });
  expect(host.file('f')).toBe('b\nc\n');
});

test('backup: minion keeps what was replaced, and it can be restored', async () => {
  const file = host.write('f', 'old\n');
  await host.state('file.managed', file, { contents: 'new', backup: 'minion' });
  const backups = (await host.call('file.list_backups', file)) as Record<string, { Size: number }>;
  expect(Object.values(backups).map(({ Size }) => Size)).toEqual([4]);
  await host.call('file.restore_backup', file, 0);
  expect(host.file('f')).toBe('old\n');
});

test('check_cmd sees the new content before it is put in place', async () => {
  const seen: string[] = [];
  const checking = makeHost({
    salt: {
      'cmd.run_all': async command => {
        seen.push(String(command));
        return { retcode: 1, stdout: '', stderr: 'bad' };
      },
    },
  });
  const file = checking.write('f', 'old\n');
  const result = await checking.state('file.managed', file, {
    contents: 'new',
    check_cmd: 'visudo -cf',
  });
  expect(result).toMatchObject({
    result: false,
    comment: 'check_cmd execution failed\nbad',
    changes: nothing,
  });
  expect(seen[0]).toMatch(/^visudo -cf \//);
  expect(checking.file('f')).toBe('old\n');
  checking.remove();
});

test('accumulated text reaches the block', async () => {
  const file = host.write('f', '# S\n# E\n');
  const collect = (name: string, text: unknown, users: unknown = [{ file }]) =>
    host.state('file.accumulated', name, file, text, { require_in: users });
  await collect('acc', ['one', 'two']);
  expect(await collect('acc', 'one')).toMatchObject({ result: true, comment: '' });
  await host.state('file.blockreplace', file, { marker_start: '# S', marker_end: '# E' });
  expect(host.file('f')).toBe('# S\none\ntwo\n# E\n');
  expect(await collect('acc', null)).toMatchObject({
    result: false,
    comment: 'No text supplied for accumulator',
  });
  const alone = host.with({ low: { __sls__: 's', __id__: 'i' } as unknown as LowChunk });
  expect(
    await alone.state('file.accumulated', 'acc', file, 'x', { require_in: [{ cmd: 'y' }] }),
  ).toMatchObject({ result: false, comment: 'Orphaned accumulator acc in s:i' });
});

test('a dict is accumulated as it is, once', async () => {
  const context: Record<string, unknown> = {};
  const run = host.with({ context });
  const ports = { http: { port: 80 } };
  for (const _ of [1, 2])
    await run.state('file.accumulated', 'c', '/conf', ports, { watch_in: [{ file: '/conf' }] });
  expect(context['file.accumulators']).toEqual({ '/conf': { c: [ports] } });
});

test.skipIf(process.geteuid?.() !== 0)(
  'managed sets the owner in the same step as the content',
  async () => {
    const result = await host.state('file.managed', `${host.root}/f`, {
      contents: 'x',
      user: 'nobody',
      group: 'nogroup',
      mode: 600,
    });
    expect(result.changes).toEqual({ diff: 'New file', user: 'nobody', group: 'nogroup' });
    const { uid, mode } = statSync(join(host.root, 'f'));
    expect([uid, mode & 0o777]).toEqual([65534, 0o600]);
  },
);

test('managed says when it may not change the owner', async () => {
  const nobody = 65534;
  chmodSync(host.root, 0o777);
  const isRoot = process.geteuid?.() === 0;
  if (isRoot) process.seteuid?.(nobody);
  try {
    const result = await host.state('file.managed', `${host.root}/f`, {
      contents: 'x',
      user: 'root',
    });
    expect(result).toMatchObject({ result: false, comment: 'Failed to change user to root' });
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
});

test('managed says why it cannot write', async () => {
  chmodSync(host.root, 0o755);
  const result = await host.state('file.managed', `${host.root}/no/f`, { contents: 'x' });
  expect(result).toMatchObject({
    result: false,
    comment: 'Parent directory not present',
    changes: nothing,
  });
  const unknown = await host.state('file.managed', `${host.root}/f`, {
    contents: 'x',
    user: 'no-such-user',
  });
  expect(unknown.comment).toBe('User no-such-user is not available ');
});
