import { existsSync, lstatSync, mkdirSync, readlinkSync, statSync, symlinkSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { makeHost, type TestHost } from '../../states/runner.ts';
import { runThreeTimes, type StateCase } from '../../states/three-runs.ts';

/** Effects of file states' arguments in Salt, where a comparison of both once differed. */
let host: TestHost;
beforeEach(() => {
  host = makeHost();
});
afterEach(() => host.remove());

const cases: StateCase[] = [
  {
    title: 'keyvalue finds a key that is indented',
    fun: 'file.keyvalue',
    before: { f: 'a = 1\n  c = 3\n' },
    name: 'ROOT/f',
    args: [{ key: 'c', value: '4', separator: ' = ', append_if_not_found: true }],
    changes: { diff: '-   c = 3\n+ c = 4\n' },
    after: { f: 'a = 1\nc = 4\n' },
  },
  {
    title: 'directory names what it removed, not what went with it',
    fun: 'file.directory',
    before: { 'd/a': '1', 'd/s/c': '2', 'd/s/t/e': '3' },
    name: 'ROOT/d',
    args: [{ clean: true }],
    changes: {
      'ROOT/d/a': { removed: 'Removed due to clean' },
      'ROOT/d/s': { removed: 'Removed due to clean' },
      'ROOT/d/s/c': { removed: 'Removed due to clean' },
      'ROOT/d/s/t': { removed: 'Removed due to clean' },
      'ROOT/d/s/t/e': { removed: 'Removed due to clean' },
      removed: ['ROOT/d/a', 'ROOT/d/s'],
    },
  },
  {
    title: 'retention_schedule keeps one week more than it is told, weeks counted by calendar year',
    fun: 'file.retention_schedule',
    before: Object.fromEntries(
      ['20200101', '20201228', '20201231', '20210101', '20210103', '20210104', '20210105'].map(
        day => [`d/b-${day}`, ''],
      ),
    ),
    name: 'ROOT/d',
    args: [{ first_of_week: 2 }, { strptime_format: 'b-%Y%m%d' }],
    changes: {
      retained: ['b-20210104', 'b-20210101', 'b-20201228'],
      deleted: ['b-20210105', 'b-20210103', 'b-20201231', 'b-20200101'],
      ignored: ['..', '.'],
    },
  },
  {
    title: 'patch takes a patch back, once',
    fun: 'file.patch',
    before: { f: 'one\nTWO\n' },
    control: { p: '--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n' },
    name: 'ROOT/f',
    args: [{ source: 'salt://p', options: '-R' }],
    after: { f: 'one\ntwo\n' },
  },
];

test.each(cases)('$title: test mode and a second run change nothing', one =>
  runThreeTimes(host, one),
);

const refusals: {
  title: string;
  fun: string;
  before?: Record<string, string>;
  name?: string;
  args: unknown[];
  says: RegExp;
}[] = [
  {
    title: 'managed takes no empty list for contents',
    fun: 'file.managed',
    args: [{ contents: [] }],
    says: /is not a string or list of strings/,
  },
  {
    title: 'line inserts nowhere when neither place is there',
    fun: 'file.line',
    args: [{ content: 'x', mode: 'insert', after: 'nope' }],
    says: /^Neither before or after was found in file$/,
  },
  {
    title: 'line ensures nowhere when neither place is there',
    fun: 'file.line',
    args: [{ content: 'x', mode: 'ensure', before: 'nope' }],
    says: /^Wrong conditions\? Unable to ensure line/,
  },
  {
    title: 'line takes no pattern that is not one, even where its text stands',
    fun: 'file.line',
    before: { f: 'a(b\n' },
    args: [{ content: 'x', mode: 'replace', match: 'a(b' }],
    says: /Invalid regular expression/,
  },
  {
    title: 'replace takes no replacement with a group that the pattern lacks, found or not',
    fun: 'file.replace',
    args: ['zzz', 'x\\1', { append_if_not_found: true }],
    says: /the pattern has no group 1/,
  },
  {
    title: 'decode takes no base64 whose end is lost',
    fun: 'file.decode',
    args: [{ encoded_data: 'notb64!!' }],
    says: /Incorrect padding/,
  },
  {
    title: 'serialize names the option that the serializer lacks',
    fun: 'file.serialize',
    args: [{ dataset: { a: 1 }, serializer: 'yaml', serializer_opts: [{ canonical: true }] }],
    says: /^serializer_opts canonical not supported for yaml; there are: /,
  },
  {
    title: 'retention_schedule removes nothing when it does not know how much to keep',
    fun: 'file.retention_schedule',
    before: { 'd/b-20200101': '', 'd/b-20200102': '' },
    name: 'ROOT/d',
    args: [{ most_recent: 'x' }, { strptime_format: 'b-%Y%m%d' }],
    says: /^most_recent must be a number of files or all, not x$/,
  },
  ...['append', 'prepend', 'replace', 'comment', 'line'].map(fun => ({
    title: `${fun} edits no directory`,
    fun: `file.${fun}`,
    before: { 'd/x': '' },
    name: 'ROOT/d',
    args: {
      append: [{ text: 'a' }],
      prepend: [{ text: 'a' }],
      replace: ['a', 'b'],
      comment: ['a'],
      line: [{ content: 'x', mode: 'insert', location: 'end' }],
    }[fun] as unknown[],
    says: /is a directory, not a file$/,
  })),
];

test.each(refusals)('$title', async ({ fun, before = { f: 'a\nb\n' }, name, args, says }) => {
  for (const [path, text] of Object.entries(before)) host.write(path, text);
  const path = (name ?? 'ROOT/f').replace('ROOT', host.root);
  for (const run of [host.test, host.state]) {
    const said = await run(fun, path, ...args).catch((error: Error) => ({
      result: false,
      comment: error.message,
      changes: {},
    }));
    expect(said).toMatchObject({ result: false, changes: {} });
    expect(said.comment).toMatch(says);
  }
  for (const [file, text] of Object.entries(before)) expect(host.file(file)).toBe(text);
});

describe('a symlink that leads nowhere', () => {
  beforeEach(() => symlinkSync('t', join(host.root, 'l')));

  test('managed makes the file it leads to, open to no one else', async () => {
    const args = { contents: 'x' };
    expect(await host.test('file.managed', join(host.root, 'l'), args)).toMatchObject({
      result: null,
      changes: { newfile: join(host.root, 'l') },
    });
    expect(await host.state('file.managed', join(host.root, 'l'), args)).toMatchObject({
      result: true,
      changes: { diff: 'New file' },
    });
    expect(readlinkSync(join(host.root, 'l'))).toBe('t');
    expect(host.file('t')).toBe('x\n');
    expect(statSync(join(host.root, 't')).mode & 0o022).toBe(0);
  });

  test('managed replaces it when links are not followed', async () => {
    const args = { contents: 'x', follow_symlinks: false };
    const path = join(host.root, 'l');
    expect(await host.state('file.managed', path, args)).toMatchObject({ result: true });
    expect(lstatSync(path).isFile()).toBe(true);
    expect(lstatSync(path).mode & 0o022).toBe(0);
    expect(existsSync(join(host.root, 't'))).toBe(false);
  });
});

test('directory leaves the mode of a symlink alone', async () => {
  host.write('o', '');
  mkdirSync(join(host.root, 'd'));
  symlinkSync('../o', join(host.root, 'd/l'));
  const args = { mode: '0700', file_mode: '0600', recurse: ['mode'] };
  const path = join(host.root, 'd');
  expect(await host.state('file.directory', path, args)).toMatchObject({ result: true });
  expect(statSync(join(host.root, 'o')).mode & 0o777).toBe(0o644);
  expect(await host.state('file.directory', path, args)).toMatchObject({
    result: true,
    changes: {},
  });
});

test.each([
  {},
  { mode: '0640' },
  { mode: 'keep' },
  { mode: 600, user: userInfo().username, group: userInfo().gid },
  { user: userInfo().uid },
  ...(userInfo().uid === 0 ? [{ mode: '0400', user: 'nobody', group: 1 }] : []),
])('recurse reports of a new file what managed reports, and makes the same: %j', async given => {
  host.control.set('tree/a', 'x\n');
  const { mode, ...owners } = { mode: null, ...given };
  const path = join(host.root, 'd/a');
  const alone = await host.state('file.managed', join(host.root, 'a'), {
    source: 'salt://tree/a',
    ...given,
  });
  const together = await host.state('file.recurse', join(host.root, 'd'), 'salt://tree', {
    file_mode: mode,
    ...owners,
  });
  const pick = (file: string) => {
    const { uid, gid, mode: bits } = statSync(file);
    return { uid, gid, bits };
  };

  expect(alone).toMatchObject({ result: true, changes: { diff: 'New file' } });
  expect(together).toMatchObject({ result: true });
  expect(together.changes[path]).toEqual(alone.changes);
  expect(pick(path)).toEqual(pick(join(host.root, 'a')));
  expect(host.file('d/a')).toBe('x\n');
});

test('patch leaves what does not fit in the reject file, and the file as it is', async () => {
  const path = host.write('f', 'zz\n');
  host.control.set('p', '--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n');
  const args = { source: 'salt://p', reject_file: join(host.root, 'rej') };
  expect(await host.test('file.patch', path, args)).toMatchObject({ result: false });
  expect(existsSync(args.reject_file)).toBe(false);
  expect(await host.state('file.patch', path, args)).toMatchObject({ result: false, changes: {} });
  expect(host.file('rej')).toContain('-two\n+TWO\n');
  expect(host.file('f')).toBe('zz\n');
});

test('cached refuses a file of the control node that has another hash', async () => {
  host.control.set('a', 'x');
  const said = await host.state('file.cached', 'salt://a', { source_hash: '0'.repeat(32) });
  expect(said).toMatchObject({ result: false });
  expect(said.comment).toMatch(/^File is cached to .*, but the hash \(9dd4e461.*\) does not match/);
});

test.skipIf(process.geteuid?.() !== 0)(
  'copy sets the owner of everything in a folder',
  async () => {
    host.write('s/x', '1');
    host.write('s/y/z', '2');
    const args = { user: 'nobody', group: 'nogroup' };
    const to = join(host.root, 'd');
    expect(await host.state('file.copy', to, join(host.root, 's'), args)).toMatchObject({
      result: true,
    });
    const uid = statSync(to).uid;
    expect(uid).not.toBe(0);
    for (const each of ['x', 'y', 'y/z']) expect(statSync(join(to, each)).uid, each).toBe(uid);
  },
);
