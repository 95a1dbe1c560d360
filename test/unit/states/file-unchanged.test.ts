import { execFileSync } from 'node:child_process';
import { chmodSync, lstatSync, readlinkSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeHost, type TestHost } from '../../states/runner.ts';

let host: TestHost;
beforeEach(() => {
  host = makeHost();
});
afterEach(() => host.remove());

const uid = process.getuid?.() ?? 0;
const gid = process.getgid?.() ?? 0;

test.each([
  ['contents', { contents: 'one\n' }],
  ['contents, owner and mode', { contents: 'one\n', user: uid, group: gid, mode: '0644' }],
  ['a source', { source: 'salt://a.txt', mode: 644 }],
])('file.managed: leaves a file with the right %s alone', async (_, options) => {
  host.control.set('a.txt', 'one\n');
  const path = host.write('f', 'one\n');
  const before = statSync(path);
  const planned = await host.test('file.managed', path, options);
  const done = await host.state('file.managed', path, options);
  expect(planned).toMatchObject({
    result: true,
    changes: {},
    comment: `The file ${path} is in the correct state`,
  });
  expect(done).toMatchObject({
    result: true,
    changes: {},
    comment: `File ${path} is in the correct state`,
  });
  const after = statSync(path);
  expect([after.ino, after.mtimeMs, after.ctimeMs]).toEqual([
    before.ino,
    before.mtimeMs,
    before.ctimeMs,
  ]);
});

test.each([
  ['content of the same length', 'two\n', { contents: 'one\n' }, 0o644],
  ['content of another length', 'one\nand more\n', { contents: 'one\n' }, 0o644],
  ['content that differs from its source', 'two\n', { source: 'salt://a.txt' }, 0o644],
  ['mode', 'one\n', { contents: 'one\n', mode: '0644' }, 0o600],
])('file.managed: mends a file with another %s', async (_, content, options, mode) => {
  host.control.set('a.txt', 'one\n');
  const path = host.write('f', content);
  chmodSync(path, mode);
  const planned = await host.test('file.managed', path, options);
  const done = await host.state('file.managed', path, options);
  expect(planned.result).toBe(null);
  expect(done).toMatchObject({ result: true, comment: `File ${path} updated` });
  expect(done.changes).not.toEqual({});
  expect(host.file('f')).toBe('one\n');
  expect(statSync(path).mode & 0o777).toBe(0o644);
});

test('file.managed: changes nothing in a file larger than what is compared at once', async () => {
  const content = `${'line\n'.repeat(40_000)}`;
  const path = host.write('f', content);
  const done = await host.state('file.managed', path, { contents: content });
  expect(done).toMatchObject({ changes: {}, comment: `File ${path} is in the correct state` });
  host.write('f', content.replace(/line\n$/, 'last\n'));
  const mended = await host.state('file.managed', path, { contents: content });
  expect(mended.comment).toBe(`File ${path} updated`);
  expect(host.file('f')).toBe(content);
});

test('file.managed: replaces a link to the right content where links are not followed', async () => {
  host.write('real', 'one\n');
  const path = join(host.root, 'f');
  symlinkSync('real', path);
  const kept = await host.state('file.managed', path, { contents: 'one\n' });
  expect(kept).toMatchObject({ changes: {}, comment: `File ${path} is in the correct state` });
  expect(readlinkSync(path)).toBe('real');
  const replaced = await host.state('file.managed', path, {
    contents: 'one\n',
    follow_symlinks: false,
  });
  expect(replaced.changes).not.toEqual({});
  expect(lstatSync(path).isFile()).toBe(true);
});

test('file.managed: does not wait for who writes into a named pipe', async () => {
  const path = join(host.root, 'pipe');
  execFileSync('mkfifo', [path]);
  const planned = await host.test('file.managed', path, { contents: 'one\n' });
  expect(planned.result).toBe(null);
});
