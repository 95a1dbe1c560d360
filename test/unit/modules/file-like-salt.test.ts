import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import * as backups from '../../../src/modules/file/exec/file/backups.ts';
import * as contains from '../../../src/modules/file/exec/file/contains.ts';
import * as copies from '../../../src/modules/file/exec/file/copy.ts';
import { makedirs } from '../../../src/modules/file/exec/file/directories.ts';
import * as links from '../../../src/modules/file/exec/file/links.ts';
import * as owner from '../../../src/modules/file/exec/file/owner.ts';
import * as paths from '../../../src/modules/file/exec/file/paths.ts';
import { rmdir } from '../../../src/modules/file/exec/file/rmdir.ts';
import { stats } from '../../../src/modules/file/exec/file/stats.ts';
import { diskusage } from '../../../src/modules/file/exec/file/usage.ts';
import * as lines from '../../../src/modules/file/exec/file/write.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';
import { contextOf, within } from '../../modules/_context.ts';

/** Answers of Salt 3006.9 for calls that were answered otherwise here. */
let folder = '';
const at = (...names: string[]): string => join(folder, ...names);
const run = <T>(work: () => Promise<T>): Promise<T> =>
  within(contextOf({}, { opts: { cachedir: at('cache') } }), work);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tsalt-file-'));
  writeFileSync(at('a'), 'text\n');
  mkdirSync(at('d'));
});
afterEach(() => removeFolder(folder));

test('paths are joined and split as by Python: an absolute part starts over, .. stays', async () => {
  expect(await paths.join('a', '/b')).toBe('/b');
  expect(await paths.join('/a', '..', 'x')).toBe('/a/../x');
  expect(await paths.join('a/', 'b', '')).toBe('a/b/');
  expect(await paths.join('')).toBe('');
  await expect(paths.join()).rejects.toThrow('at least one part');
  expect(await paths.dirname('/a//b')).toBe('/a');
  expect(await paths.dirname('//x//y')).toBe('//x');
  expect(await paths.dirname('/a/')).toBe('/a');
  expect(await paths.dirname('//x')).toBe('//');
  expect(await paths.dirname('x')).toBe('');
  expect(await paths.normpath('//x//y/../z/')).toBe('//x/z');
  expect(await paths.normpath('///x')).toBe('/x');
});

test('lines by keyword take the place of those that follow the path', async () => {
  expect(await lines.write(at('a'), { args: 'cheese=spam' })).toBe(`Wrote 1 lines to "${at('a')}"`);
  await lines.append(at('a'), { args: ['k=v', 1] }, 'left out');
  await lines.prepend(at('a'), {}, 'top', true);
  expect(readFileSync(at('a'), 'utf8')).toBe('top\nTrue\ncheese=spam\nk=v\n1\n');
});

test('a file moved to a directory goes into it, unless its name exists there', async () => {
  await run(() => copies.move(at('a'), at('d')));
  expect(existsSync(at('d', 'a'))).toBe(true);
  writeFileSync(at('a'), 'again');
  await expect(run(() => copies.move(at('a'), at('d')))).rejects.toThrow('already exists');
  expect(await run(() => copies.move(at('a'), at('b'), { disallow_copy_and_unlink: true }))).toBe(
    true,
  );
});

test('force replaces a file or a link, never a directory and what is in it', async () => {
  writeFileSync(at('d', 'precious'), 'x');
  await expect(run(() => links.symlink(at('a'), at('d'), { force: true }))).rejects.toThrow(
    'Could not create',
  );
  expect(readFileSync(at('d', 'precious'), 'utf8')).toBe('x');
  symlinkSync('nowhere', at('l'));
  expect(await run(() => links.symlink(at('a'), at('l'), { force: true }))).toBe(true);
  expect(readlinkSync(at('l'))).toBe(at('a'));
});

test('names of users and groups are given for names too', async () => {
  expect(await owner.uid_to_user('root')).toBe('root');
  expect(await owner.gid_to_group('0')).toBe('root');
  expect(await owner.gid_to_group('no-such-group-x')).toBe('');
  await expect(run(() => owner.chgrp(at('none'), 'root'))).rejects.toThrow('Path not found');
});

test('a directory that is too young counts as not removed', async () => {
  expect(await run(() => rmdir(at('d'), { older_than: 100 }))).toBe(false);
  expect(existsSync(at('d'))).toBe(true);
  expect(await run(() => rmdir(at('d')))).toBe(true);
});

test('a backup that is not there is an answer, not a failure of the call', async () => {
  expect(await run(() => backups.delete_backup(at('a'), 0))).toEqual({
    result: false,
    comment: `backup_id '0' does not exist for ${at('a')}`,
  });
  expect(await run(() => backups.restore_backup(at('a'), 'x'))).toEqual({
    result: false,
    comment: "Invalid backup_id 'x'",
  });
});

test('odd places: the root, a device, an empty file, the place of a sum', async () => {
  expect(await makedirs('/')).toBe("Directory '/' already exists");
  expect(await diskusage('/dev/null')).toBe(0);
  writeFileSync(at('empty'), '');
  expect(await contains.contains(at('empty'), '')).toBe(false);
  expect(Object.keys(await stats(at('a'), { hash_type: 'md5' }))).toEqual([
    ...['inode', 'uid', 'gid', 'group', 'user', 'atime', 'mtime', 'ctime', 'size', 'mode'],
    ...['sum', 'type', 'target'],
  ]);
});
