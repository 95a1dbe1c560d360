import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as pack from '../../src/modules/exec/archive/pack.ts';
import * as unpack from '../../src/modules/exec/archive/unpack.ts';
import { which } from '../../src/modules/lib/which.ts';
import { removeFolder } from '../helpers/remove-folder.ts';
import { contextOf, within } from './_context.ts';

const folder = mkdtempSync(join(tmpdir(), 'tsalt-archive-'));
const tree = join(folder, 'tree');
const run = <T>(work: () => Promise<T>): Promise<T> => within(contextOf({}), work);
const say = (...argv: [string, ...string[]]): string =>
  execFileSync(argv[0], argv.slice(1), { encoding: 'utf8', stdio: 'pipe' });

beforeAll(() => {
  mkdirSync(join(tree, 'sub'), { recursive: true });
  writeFileSync(join(tree, 'run'), '#!/bin/sh\n', { mode: 0o755 });
  writeFileSync(join(tree, 'sub', 'größe.txt'), 'x'.repeat(5000));
  writeFileSync(join(tree, 'sub', 'empty'), '');
});
afterAll(() => removeFolder(folder));

test('a zip archive has what it is made of, and comes back as it was', async () => {
  const file = join(folder, 'a.zip');
  const names = ['run', 'sub/', 'sub/empty', 'sub/größe.txt'];
  expect(await run(() => pack.zip(file, 'run,sub', { cwd: tree }))).toEqual(names);
  expect(await run(() => unpack.list(file))).toEqual(names);
  expect(await run(() => unpack.is_encrypted(file))).toBe(false);
  const out = join(folder, 'out');
  const done = await run(() => unpack.unzip(file, out, { excludes: 'sub/empty', trim_output: 2 }));
  expect(done).toEqual(['run', 'sub/', 'List trimmed after 2 files.']);
  expect(readFileSync(join(out, 'sub', 'größe.txt'), 'utf8')).toBe('x'.repeat(5000));
  expect(statSync(join(out, 'run')).mode & 0o777).toBe(0o755);
  expect(existsSync(join(out, 'sub', 'empty'))).toBe(false);
  await expect(run(() => pack.zip(file, 'run'))).rejects.toThrow("require the 'cwd' parameter");
});

test.skipIf(!which('unzip') || !which('zip'))(
  'zip archives are those of zip and unzip (needs both)',
  async () => {
    const ours = join(folder, 'ours.zip');
    await run(() => pack.zip(ours, [join(tree, 's*')], {}));
    expect(say('unzip', '-tq', ours)).toContain('No errors detected');
    const theirs = join(folder, 'theirs.zip');
    await run(() => pack.cmd_zip(theirs, ['run', 'sub'], { cwd: tree }));
    const out = join(folder, 'theirs');
    await run(() => unpack.cmd_unzip(theirs, out, { excludes: ['sub/empty'], options: '-q' }));
    expect(readFileSync(join(out, 'run'), 'utf8')).toBe('#!/bin/sh\n');
    expect(existsSync(join(out, 'sub', 'empty'))).toBe(false);
    const secret = join(folder, 'secret.zip');
    say('zip', '-q', '-P', 'pw', secret, join(tree, 'run'));
    expect(await run(() => unpack.is_encrypted(secret))).toBe(true);
    const open = join(folder, 'open');
    expect(await run(() => unpack.cmd_unzip(secret, open, { password: 'pw' }))).toHaveLength(1);
  },
);

test('gzip takes the place of a file and gives it back; tar takes globs', async () => {
  const file = join(folder, 'log');
  writeFileSync(file, 'lines\n');
  await run(() => pack.gzip(file, { options: '-9' }));
  expect(existsSync(file)).toBe(false);
  await run(() => pack.gunzip(`${file}.gz`));
  expect(readFileSync(file, 'utf8')).toBe('lines\n');
  const tarball = join(folder, 'a.tar');
  await run(() => pack.tar('cf', tarball, { sources: 'r*', cwd: tree }));
  expect(await run(() => unpack.list(tarball))).toEqual(['run']);
});

test('what is not done is refused by name', async () => {
  await expect(run(() => pack.gzip('x', { template: 'jinja' }))).rejects.toThrow('"template"');
  await expect(run(() => unpack.list('x.tar', { options: '-z' }))).rejects.toThrow('"options"');
  await expect(run(() => unpack.rar('x.rar'))).rejects.toThrow('archive.rar is not supported');
  await expect(
    run(() => unpack.unzip('x.zip', '/tmp', { runas: 'www-data', password: 'p' })),
  ).rejects.toThrow('do not go together');
});
