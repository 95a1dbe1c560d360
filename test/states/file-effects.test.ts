import { existsSync, lstatSync, mkdirSync, readlinkSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { makeHost, type TestHost } from './runner.ts';
import { runThreeTimes, type StateCase } from './three-runs.ts';

/** What arguments of file states do in Salt, where a comparison of both once differed. */
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
];

test.each(cases)('$title', one => runThreeTimes(host, one));

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
