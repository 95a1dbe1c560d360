import { execFileSync } from 'node:child_process';
import {
  closeSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { which } from '../../../src/modules/_shared/commands/which.ts';
import { hasSelinux } from '../../../src/modules/_shared/files/selinux.ts';
import * as backups from '../../../src/modules/file/exec/file/backups.ts';
import { get_diff } from '../../../src/modules/file/exec/file/get_diff.ts';
import * as managed from '../../../src/modules/file/exec/file/managed.ts';
import { patch } from '../../../src/modules/file/exec/file/patch.ts';
import * as selinux from '../../../src/modules/file/exec/file/selinux.ts';
import * as usage from '../../../src/modules/file/exec/file/usage.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';
import { contextOf, within } from '../../modules/_context.ts';

const folder = mkdtempSync(join(tmpdir(), 'tsalt-file-'));
const cachedir = join(folder, 'cache');
const run = <T>(work: () => Promise<T>): Promise<T> =>
  within(contextOf({}, { opts: { cachedir } }), work);
afterAll(() => removeFolder(folder));

test('file.diskusage counts what du counts, a file with two names once', async () => {
  const tree = join(folder, 'tree');
  mkdirSync(join(tree, 'sub'), { recursive: true });
  writeFileSync(join(tree, 'a'), 'x'.repeat(5000));
  writeFileSync(join(tree, 'sub', 'b'), 'y'.repeat(70));
  linkSync(join(tree, 'a'), join(tree, 'sub', 'a2'));
  expect(await run(() => usage.diskusage(tree))).toBe(5070);
  expect(await run(() => usage.diskusage(join(tree, 'a')))).toBe(5000);
  expect(await run(() => usage.diskusage(join(tree, 'none')))).toBe(0);
});

test('file.open_files knows what this process has open', async () => {
  const path = join(folder, 'open');
  const fd = openSync(path, 'w');
  try {
    expect((await run(() => usage.open_files()))[path]).toContain(process.pid);
    expect((await run(() => usage.open_files(true)))[String(process.pid)]).toContain(path);
  } finally {
    closeSync(fd);
  }
});

test('backups of a folder, by file', async () => {
  const dir = join(cachedir, 'file_backup', 'etc');
  mkdirSync(dir, { recursive: true });
  for (const name of [
    'motd_Sat_Nov_21_10:00:00_000001_2026',
    'motd_Sat_Nov_21_11:00:00_000002_2026',
    'a_b_Sat_Nov_21_12:00:00_000003_2026',
    'other',
  ])
    writeFileSync(join(dir, name), '1');
  const found = await run(() => backups.list_backups_dir('/etc/'));
  expect(Object.keys(found)).toEqual(['a_b', 'motd']);
  expect(Object.keys(found.motd ?? {})).toEqual(['0', '1']);
  expect(Object.keys((await run(() => backups.list_backups_dir('/etc/', 1))).motd ?? {})).toEqual([
    '0',
  ]);
  expect(await run(() => backups.list_backup('/etc/motd'))).toEqual(found.motd);
  expect(backups.remove_backup).toBe(backups.delete_backup);
});

test.skipIf(!which('patch') || !which('diff'))(
  'file.patch tells, then does (needs patch)',
  async () => {
    const file = join(folder, 'text');
    writeFileSync(file, 'one\ntwo\n');
    writeFileSync(`${file}.new`, 'one\nTWO\n');
    let diff = '';
    try {
      execFileSync('diff', ['-u', file, `${file}.new`]);
    } catch (error) {
      diff = (error as { stdout: Buffer }).stdout.toString();
    }
    writeFileSync(`${file}.patch`, diff);
    expect(await run(() => patch(file, `${file}.patch`, '', true))).toMatchObject({ retcode: 0 });
    expect(readFileSync(file, 'utf8')).toBe('one\ntwo\n');
    expect(await run(() => patch(file, `${file}.patch`))).toMatchObject({ retcode: 0 });
    expect(readFileSync(file, 'utf8')).toBe('one\nTWO\n');
    expect(await run(() => patch(file, `${file}.patch`))).toMatchObject({ retcode: 1 });
  },
);

test.skipIf(hasSelinux())(
  'where there is no SELinux, a file has no context (needs a host without)',
  async () => {
    expect(await run(() => selinux.get_selinux_context('/etc/hosts'))).toBe(
      'No selinux context information is available for /etc/hosts',
    );
    expect(await run(() => selinux.set_selinux_context('/etc/hosts'))).toBe(false);
  },
);

test("internal helpers of Salt's file states are refused by name", async () => {
  for (const [name, call] of Object.entries(managed))
    await expect(run(() => call({ user: 'root' }, 'x'))).rejects.toThrow(
      `file.${name} is not supported: `,
    );
});

test('file.get_diff names the files, or hides what differs', async () => {
  const [one, two] = [join(folder, 'one'), join(folder, 'two')];
  writeFileSync(one, 'a\n');
  writeFileSync(two, 'b\n');
  const diff = (options = {}) => run(() => get_diff(one, two, null, options));
  expect(await diff()).toBe(`--- ${one}\n+++ ${two}\n@@ -1 +1 @@\n-a\n+b\n`);
  expect(await diff({ show_filenames: false })).toMatch(/^---\s*\n\+\+\+\s*\n@@/);
  expect(await diff({ show_changes: false })).toBe('<show_changes=False>');
  expect(await run(() => get_diff(one, one))).toBe('');
  await expect(diff({ source_hash_file1: 'x' })).rejects.toThrow('"source_hash_file1"');
});
