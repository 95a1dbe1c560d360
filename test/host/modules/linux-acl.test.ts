import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { which } from '../../../src/modules/_shared/commands/which.ts';
import type { StateReturn } from '../../../src/modules/api.ts';
import * as acl from '../../../src/modules/linux_acl/exec/linux_acl.ts';
import * as state from '../../../src/modules/linux_acl/states/linux_acl.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';
import { contextOf, testing, within } from '../../modules/_context.ts';

/** Access lists need the tools, and a file system that keeps them. */
const canRun = (): boolean => {
  if (which('getfacl') === undefined || which('setfacl') === undefined) return false;
  const folder = mkdtempSync(join(tmpdir(), 'tsalt-acl-'));
  const { status } = spawnSync('setfacl', ['-m', 'u:nobody:r', folder]);
  rmSync(folder, { recursive: true });
  return status === 0;
};

describe.skipIf(!canRun())('access lists', { timeout: 240_000 }, () => {
  let folder: string;
  let file: string;
  const context = contextOf({ acl });
  const shown = (path: string): string[] =>
    execFileSync('getfacl', ['-cpE', path], { encoding: 'utf8' }).trim().split('\n');
  /** Predicted first, without changes; applied; and nothing to do after that. */
  const settles = async (work: () => Promise<StateReturn>): Promise<StateReturn> => {
    const before = execFileSync('getfacl', ['-Rp', folder], { encoding: 'utf8' });
    const told = await within(testing(context), work);
    expect(told.result, String(told.comment)).toBe(null);
    expect(execFileSync('getfacl', ['-Rp', folder], { encoding: 'utf8' })).toBe(before);
    const done = await within(context, work);
    expect(done).toMatchObject({ result: true, changes: told.changes });
    const again = await within(context, work);
    expect(again).toMatchObject({ result: true, changes: {} });
    expect(again.changes).not.toHaveProperty('new');
    return done;
  };

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tsalt-acl-'));
    file = join(folder, 'sub', 'a file');
    mkdirSync(join(folder, 'sub'));
    writeFileSync(file, '', { mode: 0o640 });
  });
  afterEach(() => removeFolder(folder));

  test('an entry is added, changed and taken away', async () => {
    const { changes } = await settles(() => state.present(file, 'user', 'nobody', 'rw'));
    expect(changes).toEqual({ new: { acl_name: 'nobody', acl_type: 'user', perms: 'rw' } });
    expect(shown(file)).toContain('user:nobody:rw-');
    const changed = await settles(() => state.present(file, 'user', 'nobody', 'r-x'));
    expect(changed.changes.old).toEqual({ acl_name: 'nobody', acl_type: 'user', perms: 'rw-' });
    expect(changed.comment).toBe('Updated permissions for nobody');
    await settles(() => state.present(file, 'u', '65534', '7'));
    expect(shown(file)).toContain('user:nobody:rwx');
    const gone = await settles(() => state.absent(file, 'user', 'nobody'));
    expect(gone.comment).toBe('Removing permissions');
    expect(shown(file).filter(line => line.includes('nobody'))).toEqual([]);
  });

  test('all below gets it, folders pass it on, and X runs only what runs', async () => {
    await settles(() => state.present(folder, 'group', 'daemon', 'rX', { recurse: true }));
    expect(shown(file)).toContain('group:daemon:r--');
    expect(shown(join(folder, 'sub'))).toContain('group:daemon:r-x');
    await settles(() => state.present(folder, 'default:group', 'daemon', 'rwx', { recurse: true }));
    expect(shown(join(folder, 'sub'))).toContain('default:group:daemon:rwx');
    writeFileSync(join(folder, 'sub', 'new'), '');
    expect(shown(join(folder, 'sub', 'new'))).toContain('group:daemon:rwx');
    await settles(() => state.absent(folder, 'd:g', 'daemon', '', { recurse: true }));
    expect(shown(join(folder, 'sub'))).not.toContain('default:group:daemon:rwx');
  });

  test('several at once, and no others when forced', async () => {
    await settles(() => state.present(file, 'user', 'sys', 'r'));
    const { changes } = await settles(() =>
      state.list_present(file, 'user', ['nobody', 'daemon'], 'rwx'),
    );
    expect(changes.new).toMatchObject({ acl_name: 'nobody, daemon' });
    expect(shown(file)).toContain('user:sys:r--');
    const forced = { force: true };
    await settles(() => state.list_present(file, 'user', ['nobody', 'bin'], 'r', forced));
    expect(shown(file).filter(line => /^user:\w/.test(line))).toEqual([
      'user:bin:r--',
      'user:nobody:r--',
    ]);
    await settles(() => state.list_absent(file, 'user', ['bin', 'nobody', 'daemon']));
    expect(shown(file).filter(line => /^user:\w/.test(line))).toEqual([]);
    await settles(() => state.present(file, 'other', '', 'r'));
    expect(shown(file)).toContain('other::r--');
  });

  test('mistakes are reported, and a missing path is predicted', async () => {
    const none = join(folder, 'none');
    const wrong = await within(context, () => state.present(none, 'user', 'nobody', 'r'));
    expect(wrong).toMatchObject({ result: false, comment: `${none} does not exist` });
    const told = await within(testing(context), () => state.present(none, 'user', 'nobody', 'r'));
    expect(told.result).toBe(null);
    const type = await within(context, () => state.present(file, 'wings', 'nobody', 'r'));
    expect(type.comment).toContain('ACL Type does not exist');
    const user = await within(context, () => state.present(file, 'user', 'tsalt-nobody', 'r'));
    expect(user).toMatchObject({ result: false, changes: {} });
    expect(user.comment).toContain('Error updating permissions for tsalt-nobody');
  });

  test('lists are returned in every detail, changed and wiped', async () => {
    expect(await within(context, acl.version)).toMatch(/^\d+\.\d+/);
    await within(context, () => acl.modfacl('user', 'nobody', 'rx', {}, file));
    const told = await within(context, () => acl.getfacl({}, file));
    const owner = execFileSync('stat', ['-c', '%U', file], { encoding: 'utf8' }).trim();
    expect(told).toMatchObject({
      [file]: {
        comment: { file, owner },
        user: [
          { [owner]: { octal: 6, permissions: { read: true, write: true, execute: false } } },
          { nobody: { octal: 5 } },
        ],
        mask: [{ '': { octal: 5 } }],
      },
    });
    await within(context, () => acl.delfacl('user', 'nobody', {}, file));
    expect(shown(file)).not.toContain('user:nobody:r-x');
    await within(context, () => acl.modfacl('d:u', 'nobody', 'rx', {}, folder));
    expect(await within(context, () => acl.getfacl({}, folder))).toHaveProperty(
      [folder, 'defaults', 'user', 1, 'nobody', 'octal'],
      5,
    );
    await within(context, () => acl.wipefacls({}, folder));
    expect(shown(folder).some(line => line.startsWith('default:'))).toBe(false);
  });
});
