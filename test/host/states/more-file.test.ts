import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { nothing } from '../../helpers/nothing.ts';
import { makeHost, type TestHost } from '../../states/runner.ts';

let host: TestHost;
beforeEach(() => {
  host = makeHost();
});
afterEach(() => host.remove());

const at = (path: string): string => join(host.root, path);

/** Whether this machine lets us make devices: containers often do not. */
const makesDevices = ((): boolean => {
  const path = `/tmp/.tsalt-null-${process.pid}`;
  try {
    execFileSync('mknod', [path, 'c', '1', '3'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  } finally {
    rmSync(path, { force: true });
  }
})();

describe('file.mknod', () => {
  test('makes a named pipe once, in folders that are not there yet', async () => {
    const args = { ntype: 'p', mode: '0640' };
    const path = at('new/fifo');
    expect(await host.test('file.mknod', path, args)).toMatchObject({
      result: null,
      comment: `Fifo pipe ${path} is set to be created`,
    });
    expect(existsSync(path)).toBe(false);
    expect(await host.state('file.mknod', path, args)).toMatchObject({
      result: true,
      changes: { new: `Fifo pipe ${path} created.` },
    });
    expect(lstatSync(path).isFIFO()).toBe(true);
    expect(lstatSync(path).mode & 0o777).toBe(0o640);
    expect(await host.state('file.mknod', path, args)).toMatchObject({
      result: true,
      changes: nothing,
      comment: `Fifo pipe ${path} is in the correct state`,
    });
    expect(await host.call('file.is_fifo', path)).toBe(true);
    const other = await host.state('file.mknod', path, { ntype: 'p', mode: '0600' });
    expect(other).toMatchObject({ result: true, changes: { mode: '0600' } });
    expect(lstatSync(path).mode & 0o777).toBe(0o600);
  });

  test('leaves alone what is something else', async () => {
    host.write('file', 'x');
    expect(
      await host.state('file.mknod', at('file'), { ntype: 'c', major: 1, minor: 3 }),
    ).toMatchObject({
      result: false,
      comment: `File ${at('file')} exists and is not a character device. Refusing to continue`,
    });
    expect(host.file('file')).toBe('x');
    expect((await host.state('file.mknod', at('y'), { ntype: 'z' })).comment).toMatch(
      /^Node type unavailable: 'z'/,
    );
  });

  test('returns devices and their numbers', async () => {
    expect(await host.call('file.is_chrdev', '/dev/null')).toBe(true);
    expect(await host.call('file.is_blkdev', '/dev/null')).toBe(false);
    expect(await host.call('file.get_devmm', '/dev/null')).toEqual([1, 3]);
    expect(await host.call('file.get_devmm', at('.'))).toEqual([0, 0]);
  });

  test.skipIf(!makesDevices)('makes a device (needs the right to)', async () => {
    const args = { ntype: 'c', major: 1, minor: 260 };
    expect((await host.state('file.mknod', at('dev'), args)).result).toBe(true);
    expect(await host.call('file.get_devmm', at('dev'))).toEqual([1, 260]);
    expect((await host.state('file.mknod', at('dev'), args)).changes).toEqual({});
    expect((await host.state('file.mknod', at('dev'), { ...args, minor: 3 })).comment).toBe(
      `Character device ${at('dev')} exists and has a different major/minor 1/260. Refusing to continue`,
    );
  });
});

describe('older editors of files', () => {
  test('sed edits, keeps a backup, and takes slashes literally', async () => {
    host.write('f', 'LogLevel warn\npath /a/b\n');
    await host.call('file.sed', at('f'), '/a/b', '/c', { limit: '^path' });
    expect(host.file('f')).toBe('LogLevel warn\npath /c\n');
    expect(host.file('f.bak')).toBe('LogLevel warn\npath /a/b\n');
    await host.call('file.sed', at('f'), 'warn', 'info', {
      limit: 'path',
      negate_match: true,
      backup: '',
    });
    expect(host.file('f')).toBe('LogLevel info\npath /c\n');
    expect(await host.call('file.sed_contains', at('f'), 'Lev.l')).toBe(true);
    expect(await host.call('file.sed_contains', at('f'), 'nothing')).toBe(false);
    expect(await host.call('file.sed', at('nowhere'), 'a', 'b')).toBe(false);
  });

  test('psed replaces all, or the first', async () => {
    host.write('f', 'a b a\n');
    await host.call('file.psed', at('f'), 'A', 'x', { flags: 'I' });
    expect(host.file('f')).toBe('x b a\n');
    await host.call('file.psed', at('f'), '[xa]', 'y');
    expect(host.file('f')).toBe('y b y\n');
    await expect(host.call('file.psed', at('f'), 'a', 'b', { flags: 'L' })).rejects.toThrow(
      "psed: the flag 'L' is not supported",
    );
  });

  test('reads and writes at a place', async () => {
    host.write('f', '0123456789');
    expect(await host.call('file.seek_read', at('f'), 3, 4)).toBe('456');
    expect(await host.call('file.seek_write', at('f'), 'ab', 8)).toBe(2);
    expect(host.file('f')).toBe('01234567ab');
  });

  test('statvfs is what stat says', async () => {
    const told = (await host.call('file.statvfs', at('.'))) as Record<string, number>;
    const [blocks, size] = execFileSync('stat', ['-f', '-c', '%b %S', at('.')], {
      encoding: 'utf8',
    }).split(' ');
    expect([told.f_blocks, told.f_bsize]).toEqual([Number(blocks), Number(size)]);
    await expect(host.call('file.statvfs', at('nowhere'))).rejects.toThrow('Could not statvfs');
  });
});

describe('copies of what the control node has', () => {
  beforeEach(() => {
    host.control.set('d/one.conf', 'one');
    host.control.set('d/sub/two.txt', 'two {{ name }}');
  });

  test('files and folders are kept and listed', async () => {
    const kept = (await host.call(
      'cp.cache_files',
      'salt://d/one.conf,salt://d/none',
    )) as unknown[];
    expect(readFileSync(String(kept[0]), 'utf8')).toBe('one');
    expect(kept[1]).toBe(false);
    expect(await host.call('cp.list_minion')).toEqual([kept[0]]);
    expect(await host.call('cp.cache_dir', 'salt://d', null, { include_pat: '*.txt' })).toEqual([
      expect.stringMatching(/d\/sub\/two\.txt$/),
    ]);
    expect(await host.call('cp.list_minion')).toEqual([
      kept[0],
      expect.stringMatching(/^\/.*\/d\/sub\/two\.txt$/),
    ]);
    // A slash at the end, or nothing but the scheme, is a folder, too.
    for (const folder of ['salt://d/', 'salt://'])
      expect(await host.call('cp.cache_dir', folder)).toEqual([
        kept[0],
        expect.stringMatching(/d\/sub\/two\.txt$/),
      ]);
    expect(await host.call('cp.cache_dest', 'salt://d/one.conf')).toBe(kept[0]);
  });

  test('a local file is kept, a template rendered', async () => {
    writeFileSync(at('local'), 'mine');
    const place = String(await host.call('cp.cache_local_file', at('local')));
    expect(readFileSync(place, 'utf8')).toBe('mine');
    expect(await host.call('cp.list_minion')).toEqual([place]);
    writeFileSync(at('rendered'), 'open', { mode: 0o644 });
    await host.call('cp.get_template', 'salt://d/sub/two.txt', at('rendered'));
    expect(host.file('rendered')).toMatch(/^two /);
    // It may hold secrets.
    expect(statSync(at('rendered')).mode & 0o777).toBe(0o600);
  });

  test('a file that the file server does not have is false by URL and empty by file', async () => {
    expect(await host.call('cp.get_url', 'salt://d/none', at('x'))).toBe(false);
    expect(await host.call('cp.get_url', 'salt://d/none', null)).toBe(false);
    expect(await host.call('cp.get_file', 'salt://d/none', at('x'))).toBe('');
  });
});

test('saltutil lists and ends running jobs', async () => {
  expect(await host.call('saltutil.running')).toEqual([]);
  const { takeLock } = await import('../../../src/modules/_shared/commands/run-lock.ts');
  const lock = takeLock(at('.cache'), 'state.apply');
  expect(await host.call('saltutil.is_running', 'state.*')).toMatchObject([
    { fun: 'state.apply', pid: process.pid },
  ]);
  expect(await host.call('saltutil.is_running', 'state.single')).toEqual([]);
  if ('release' in lock) lock.release();
  expect(await host.call('saltutil.running')).toEqual([]);
});

describe('texts of 300,000 lines', () => {
  const text = `${'line\n'.repeat(299_999)}last`;

  test('are appended', async () => {
    host.write('log', '');
    expect(await host.state('file.append', at('log'), { text })).toMatchObject({ result: true });
    expect(host.file('log')).toBe(`${text}\n`);
  });

  test('replace a block, and are added as one', async () => {
    const block = { marker_start: '# begin', marker_end: '# end', content: text };
    const before = '# begin\nold\n# end\nkey = 1\n';
    const after = `# begin\n${text}\n# end\n`;
    host.write('conf', before);
    await host.state('file.blockreplace', at('conf'), block);
    expect(host.file('conf')).toBe(`${after}key = 1\n`);
    host.write('conf', 'key = 1\nlast\n');
    await host.state('file.blockreplace', at('conf'), { ...block, insert_after_match: 'key' });
    expect(host.file('conf')).toBe(`key = 1\n${after}last\n`);
  });
});
