import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { which } from '../../../src/modules/_shared/commands/which.ts';
import type { StateReturn } from '../../../src/modules/api.ts';
import { makeHost, type TestHost } from '../../states/runner.ts';

let host: TestHost;
beforeEach(() => {
  host = makeHost();
  host.write('from/a', 'one');
  host.write('from/deep/b', 'two');
});
afterEach(() => host.remove());

const source = (): string => join(host.root, 'from/');
const target = (): string => join(host.root, 'to/x');

/** Whether the folder itself is among them hangs on the second it was made in. */
const withoutFolder = ({ changes, ...rest }: StateReturn) => ({
  ...rest,
  changes: Object.fromEntries(
    Object.entries(changes).map(([key, text]) => [key, String(text).replace(/^\.\/\n/, '')]),
  ),
});

describe.skipIf(!which('rsync'))('the real rsync', () => {
  test('a folder becomes like another, once', async () => {
    const wish = { prepare: true, delete: true };
    expect(await host.test('rsync.synchronized', target(), source(), wish)).toEqual({
      name: target(),
      result: null,
      changes: {},
      comment: `Destination directory ${target()} would be created and filled.`,
    });
    expect(existsSync(join(host.root, 'to'))).toBe(false);
    const first = await host.state('rsync.synchronized', target(), source(), wish);
    expect(withoutFolder(first)).toMatchObject({
      result: true,
      changes: { copied: 'a\ndeep/\ndeep/b', deleted: 'N/A' },
    });
    expect(first.comment).toMatch(
      /^- sent .* bytes\n- received .* bytes\n.*\n- total size is 6\n- speedup is /,
    );
    expect(host.file('to/x/deep/b')).toBe('two');
    const again = await host.state('rsync.synchronized', target(), source(), wish);
    expect(again).toMatchObject({ result: true, changes: {} });

    rmSync(join(host.root, 'from/deep'), { recursive: true });
    writeFileSync(join(host.root, 'from/c'), 'three');
    const changes = { copied: 'c', deleted: 'deep/\ndeep/b' };
    const told = await host.test('rsync.synchronized', target(), source(), wish);
    expect(withoutFolder(told)).toMatchObject({ result: null, changes });
    expect(existsSync(join(target(), 'deep/b'))).toBe(true);
    const dry = { ...wish, dryrun: true };
    const tried = await host.state('rsync.synchronized', target(), source(), dry);
    expect(tried).toMatchObject({ result: null, changes: told.changes });
    const then = await host.state('rsync.synchronized', target(), source(), wish);
    expect(withoutFolder(then)).toMatchObject({ result: true, changes });
    expect(readdirSync(target())).toEqual(['a', 'c']);
    expect(await host.test('rsync.synchronized', target(), source(), wish)).toMatchObject({
      result: true,
      changes: {},
    });
  });

  test('a destination that is missing is made only where that is asked', async () => {
    expect(await host.state('rsync.synchronized', target(), source())).toEqual({
      name: target(),
      result: false,
      changes: {},
      comment: `Destination directory ${target()} was not found.`,
    });
  });

  test('an error of rsync is reported with its message, in test mode too', async () => {
    mkdirSync(target(), { recursive: true });
    for (const run of [host.state, host.test]) {
      const { result, comment } = await run('rsync.synchronized', target(), `${host.root}/none`);
      expect(result).toBe(false);
      expect(comment).toContain('No such file or directory');
    }
  });

  test('patterns are left out, one or several, and a text with a comma is one', async () => {
    mkdirSync(target(), { recursive: true });
    host.write('from/x,y', '');
    await host.call('rsync.rsync', source(), target(), { exclude: 'x,y' });
    expect(readdirSync(target())).toEqual(['a', 'deep']);
    await host.call('rsync.rsync', source(), join(host.root, 'two'), { exclude: ['a', 'x*'] });
    expect(readdirSync(join(host.root, 'two'))).toEqual(['deep']);
    const list = host.write('list', 'deep\n');
    const answer = await host.call('rsync.rsync', source(), join(host.root, 'three'), {
      exclude: 'a',
      excludefrom: list,
      additional_opts: ['--no-perms'],
    });
    expect(answer).toMatchObject({ retcode: 0, stderr: '' });
    expect(readdirSync(join(host.root, 'three'))).toEqual(['a', 'x,y']);
  });

  test('files and folders of the file server keep their names', async () => {
    host.control.set('www/index.html', 'page');
    host.control.set('www/css/a.css', 'style');
    mkdirSync(target(), { recursive: true });
    await host.call('rsync.rsync', 'salt://www', target());
    expect(host.file('to/x/www/css/a.css')).toBe('style');
    await host.call('rsync.rsync', 'salt://www/', join(host.root, 'plain'));
    expect(host.file('plain/index.html')).toBe('page');
    await host.call('rsync.rsync', 'salt://www/index.html', target());
    expect(host.file('to/x/index.html')).toBe('page');
    await expect(host.call('rsync.rsync', 'salt://none', target())).rejects.toThrow(
      'salt://none does not exist',
    );
  });

  test('version and configuration are returned', async () => {
    expect(await host.call('rsync.version')).toMatch(/^\d+\.\d+/);
    expect(await host.call('rsync.config', host.write('rsyncd.conf', '[a]\n'))).toBe('[a]\n');
    await expect(host.call('rsync.config', join(host.root, 'none'))).rejects.toThrow(
      `${host.root}/none does not exist`,
    );
  });
});
