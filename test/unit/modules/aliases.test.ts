import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { notedPrograms } from '../../modules/_programs.ts';
import { makeHost, type TestHost } from '../../states/runner.ts';

let host: TestHost;
let folder: string;
let file: string;
const programs = notedPrograms();
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'aliases-'));
  file = join(folder, 'aliases');
  host = makeHost({ opts: { 'aliases.file': file } });
  programs.program('newaliases', '');
  writeFileSync(file, '# people\nroot: ann # the admin\npostmaster: root\n');
});
afterEach(() => {
  host.remove();
  rmSync(folder, { recursive: true });
});

test('aliases.set_target replaces the target and keeps comments', async () => {
  expect(await host.call('aliases.list_aliases')).toEqual({ root: 'ann', postmaster: 'root' });
  expect(await host.call('aliases.has_target', 'root', 'ann')).toBe(true);
  expect(await host.call('aliases.set_target', 'root', ['ann', 'bob'])).toBe(true);
  expect(await host.call('aliases.get_target', 'root')).toBe('ann, bob');
  expect(readFileSync(file, 'utf8')).toBe(
    '# people\nroot: ann, bob # the admin\npostmaster: root\n',
  );
  expect(await host.call('aliases.rm_alias', 'postmaster')).toBe(true);
  expect(await host.call('aliases.get_target', 'postmaster')).toBe('');
});

test('an alias that would write another line is refused', async () => {
  const set = host.call('aliases.set_target', 'root: x\nhacker', 'eve');
  await expect(set).rejects.toThrow('alias must be a name on one line');
  await expect(host.call('aliases.set_target', 'root', 'a\nb: c')).rejects.toThrow('on one line');
  expect(await host.call('aliases.list_aliases')).toEqual({ root: 'ann', postmaster: 'root' });
});
