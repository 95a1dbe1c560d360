import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  watch,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { which } from '../../../src/modules/_shared/commands/which.ts';
import * as pack from '../../../src/modules/archive/exec/archive/pack.ts';
import * as unpack from '../../../src/modules/archive/exec/archive/unpack.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';
import { contextOf, within } from '../../modules/_context.ts';

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

test('gzip replaces a file and restores it; tar accepts globs', async () => {
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

test('a name that begins as an option does is a name for tar', async () => {
  const odd = join(folder, 'odd');
  mkdirSync(odd);
  const names = [`--checkpoint-action=exec=touch ${odd}-taken`, '--checkpoint=1', '-v'];
  for (const name of names) writeFileSync(join(odd, name.replaceAll('/', '-')), 'x');
  const tarball = join(folder, 'odd.tar');
  await run(() => pack.tar('cf', tarball, { sources: '*', cwd: odd }));
  expect(await run(() => unpack.list(tarball))).toHaveLength(3);
  expect(existsSync(`${odd}-taken`)).toBe(false);
});

test('a link that leads back is not followed into a zip archive', async () => {
  const loop = join(folder, 'loop');
  mkdirSync(join(loop, 'sub'), { recursive: true });
  writeFileSync(join(loop, 'sub', 'file'), 'x');
  for (const name of ['a', 'b']) symlinkSync(loop, join(loop, 'sub', name));
  symlinkSync('file', join(loop, 'sub', 'link'));
  const file = join(folder, 'loop.zip');
  await run(() => pack.zip(file, 'sub', { cwd: loop }));
  expect(await run(() => unpack.list(file))).toEqual(['sub/', 'sub/file', 'sub/link']);
});

test('a folder that holds something is not lost to a file of an archive', async () => {
  const tarball = join(folder, 'run.tar');
  await run(() => pack.tar('cf', tarball, { sources: 'run', cwd: tree }));
  const kept = join(folder, 'kept', 'run', 'data');
  mkdirSync(join(folder, 'kept', 'run'), { recursive: true });
  writeFileSync(kept, 'mine');
  const extract = () => run(() => unpack.extract(tarball, join(folder, 'kept')));
  await expect(extract()).rejects.toThrow('is in the way of a file of the archive');
  expect(readFileSync(kept, 'utf8')).toBe('mine');
  rmSync(kept);
  expect(await extract()).toEqual(['run']);
});

test('half a file does not stay, and none is open to all while it is written', async () => {
  const big = join(folder, 'big');
  mkdirSync(big);
  writeFileSync(join(big, 'data'), randomBytes(400_000), { mode: 0o600 });
  const whole = join(folder, 'whole.tar.gz');
  await run(() => pack.tar('czf', whole, { sources: 'data', cwd: big }));
  writeFileSync(join(folder, 'half.tar.gz'), readFileSync(whole).subarray(0, 200_000));
  const to = join(folder, 'half');
  const cut = () => run(() => unpack.extract(join(folder, 'half.tar.gz'), to));
  await expect(cut()).rejects.toThrow();
  expect(readdirSync(to)).toEqual([]);
  const modes: number[] = [];
  mkdirSync(join(folder, 'watched'));
  const watcher = watch(join(folder, 'watched'), () => {
    const stat = statSync(join(folder, 'watched', 'data'), { throwIfNoEntry: false });
    if (stat) modes.push(stat.mode & 0o077);
  });
  await run(() => unpack.extract(whole, join(folder, 'watched')));
  await expect.poll(() => modes.length, { timeout: 5000 }).toBeGreaterThan(0);
  watcher.close();
  expect(new Set(modes)).toEqual(new Set([0]));
});

test.skipIf(!which('unzip') || process.getuid?.() !== 0)(
  'archive.unzip writes over what is there, as another account too (needs unzip and root)',
  async () => {
    const open = mkdtempSync(join(tmpdir(), 'tsalt-unzip-'));
    chmodSync(open, 0o777);
    const file = join(open, 'a.zip');
    await run(() => pack.zip(file, 'run', { cwd: tree }));
    const again = () => run(() => unpack.unzip(file, join(open, 'to'), { runas: 'nobody' }));
    await again();
    expect((await again()).join()).toContain('run');
    removeFolder(open);
  },
);

test('unsupported options are refused by name', async () => {
  await expect(run(() => pack.gzip('x', { template: 'jinja' }))).rejects.toThrow('"template"');
  await expect(run(() => unpack.list('x.tar', { options: '-z' }))).rejects.toThrow('"options"');
  await expect(run(() => unpack.rar('x.rar'))).rejects.toThrow('archive.rar is not supported');
  await expect(
    run(() => unpack.unzip('x.zip', '/tmp', { runas: 'www-data', password: 'p' })),
  ).rejects.toThrow('do not go together');
});
