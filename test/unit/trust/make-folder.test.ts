import { mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { makeFolder } from '../../../src/trust/make-folder.ts';
import { scratch } from '../../helpers/hosts.ts';

const { path: dir, remove } = scratch('tsalt-folders');
afterAll(remove);

test('makeFolder makes a folder and those above it, and accepts one that exists', () => {
  makeFolder(join(dir, 'a/b/c'), 0o700);
  makeFolder(join(dir, 'a/b/c'), 0o755);
  for (const path of ['a', 'a/b', 'a/b/c'])
    expect(statSync(join(dir, path)).mode & 0o777).toBe(0o700);
  mkdirSync(join(dir, 'real'));
  symlinkSync('real', join(dir, 'link'));
  makeFolder(join(dir, 'link/below'));
  expect(statSync(join(dir, 'real/below')).isDirectory()).toBe(true);
});

test('makeFolder fails where nothing can be made', () => {
  writeFileSync(join(dir, 'file'), '');
  symlinkSync('nowhere', join(dir, 'dangling'));
  expect(() => makeFolder('/proc/tsalt/folder')).toThrow(/^ENOENT: .* mkdir '\/proc\/tsalt'/);
  expect(() => makeFolder(join(dir, 'file'))).toThrow(/^EEXIST/);
  expect(() => makeFolder(join(dir, 'file/below'))).toThrow(/^(EEXIST|ENOTDIR)/);
  expect(() => makeFolder(join(dir, 'dangling/below'))).toThrow(/^EEXIST/);
});
