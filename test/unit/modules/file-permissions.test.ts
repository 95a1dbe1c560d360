import { chmodSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { nothing } from '../../helpers/nothing.ts';
import { makeHost, type TestHost } from '../../states/runner.ts';

let host: TestHost;
let file: string;
beforeEach(() => {
  host = makeHost();
  file = join(host.root, 'file');
  writeFileSync(file, 'one\nTwo\nthree\n');
  chmodSync(file, 0o640);
});
afterEach(() => host.remove());

test('file.get_mode and file.set_mode follow links only when asked', async () => {
  symlinkSync(file, join(host.root, 'link'));
  expect(await host.call('file.get_mode', file)).toBe('0640');
  expect(await host.call('file.get_mode', join(host.root, 'link'))).toBe('0640');
  const own = { follow_symlinks: false };
  expect(await host.call('file.get_mode', join(host.root, 'link'), own)).toBe('0777');
  expect(await host.call('file.set_mode', file, '0600')).toBe('0600');
  expect(statSync(file).mode & 0o7777).toBe(0o600);
});

test('file.check_perms changes owner and mode, and reports how they were', async () => {
  const { uid, gid } = statSync(file);
  const [ret, before] = (await host.call('file.check_perms', file, null, uid, gid, '0600')) as [
    object,
    object,
  ];
  expect(ret).toMatchObject({ result: true, changes: { mode: '0600' } });
  expect(before).toMatchObject({ lmode: '0640' });
  const again = (await host.call('file.check_perms', file, null, uid, gid, '0600')) as [object];
  expect(again[0]).toMatchObject({ result: true, changes: nothing });
});

test('file.grep passes options as single words', async () => {
  expect(await host.call('file.grep', file, 'two', '-i', '-n')).toMatchObject({
    retcode: 0,
    stdout: '2:Two',
    stderr: '',
  });
  expect(await host.call('file.grep', file, 'four')).toMatchObject({ retcode: 1, stdout: '' });
  await expect(host.call('file.grep', file, 'two', '-i -n')).rejects.toThrow(
    'please pass the following arguments separately: -i -n',
  );
});

test('file.chattr: without attributes, or with a wrong operator, nothing runs', async () => {
  await expect(
    host.call('file.chattr', file, { operator: 'x', attributes: 'i' }),
  ).rejects.toThrow();
  await expect(host.call('file.lsattr', join(host.root, 'gone'))).rejects.toThrow('gone');
});

test('a check_cmd of file.managed runs on the new file before it replaces the old one', async () => {
  const checked = { contents: 'four', check_cmd: 'grep -q one' };
  expect(await host.state('file.managed', file, checked)).toMatchObject({ result: false });
  expect(readFileSync(file, 'utf8')).toContain('one');
});
