import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { which } from '../../src/modules/lib/which.ts';
import { nothing } from '../helpers/nothing.ts';
import { makeHost, type TestHost } from './runner.ts';

describe.skipIf(!which('rsync'))('rsync', () => {
  let host: TestHost;
  let target: string;
  beforeEach(() => {
    host = makeHost();
    target = join(host.root, 'copy');
    host.write('from/web/index.html', 'hello');
    host.write('from/web/draft.tmp', 'no');
  });
  afterEach(() => host.remove());

  test('a folder is copied once, and what it does not have goes', async () => {
    const source = `${join(host.root, 'from')}/`;
    const options = { exclude: '*.tmp', delete: true };
    const fun = 'rsync.synchronized';
    expect(await host.state(fun, target, source, options)).toMatchObject({
      result: false,
      comment: `Destination directory ${target} was not found.`,
    });
    const prepared = { ...options, prepare: true };
    expect(await host.test(fun, target, source, prepared)).toMatchObject({ result: null });
    expect(existsSync(target)).toBe(false);
    expect(await host.state(fun, target, source, prepared)).toMatchObject({
      result: true,
      changes: {
        copied: expect.stringMatching(/^(.\/\n)?web\/\nweb\/index.html$/),
        deleted: 'N/A',
      },
      comment: expect.stringMatching(
        /^- sent [\d,]+ bytes\n- received [\d,]+ bytes\n- .*\n- total size/,
      ),
    });
    expect(host.file('copy/web/index.html')).toBe('hello');
    for (const run of [host.test, host.state])
      expect(await run(fun, target, source, prepared)).toMatchObject({
        result: true,
        changes: nothing,
      });
    host.write('copy/web/old', 'x');
    const changes = { deleted: 'web/old' };
    expect(await host.test(fun, target, source, options)).toMatchObject({ result: null, changes });
    expect(existsSync(join(target, 'web/old'))).toBe(true);
    expect(await host.state(fun, target, source, { ...options, dryrun: true })).toMatchObject({
      result: null,
      changes,
    });
    expect(await host.state(fun, target, source, options)).toMatchObject({ result: true, changes });
    expect(existsSync(join(target, 'web/old'))).toBe(false);
    expect(existsSync(join(target, 'web/draft.tmp'))).toBe(false);
  });

  test('what rsync refuses fails the state with its words', async () => {
    mkdirSync(target);
    expect(await host.state('rsync.synchronized', target, '/no/where')).toMatchObject({
      result: false,
      comment: expect.stringContaining(' failed: No such file or directory'),
    });
  });

  test('folders and files of the control node are sources', async () => {
    host.control.set('site/web/a/b.html', 'b');
    mkdirSync(target);
    const copy = (source: string) => host.call('rsync.rsync', source, `${target}/`);
    expect(await copy('salt://site/web')).toMatchObject({ retcode: 0 });
    expect(host.file('copy/web/a/b.html')).toBe('b');
    expect(await copy('salt://site/web/')).toMatchObject({ retcode: 0 });
    expect(host.file('copy/a/b.html')).toBe('b');
    expect(await copy('salt://site/web/a/b.html')).toMatchObject({ retcode: 0 });
    expect(host.file('copy/b.html')).toBe('b');
    expect(await host.call('rsync.version')).toMatch(/^\d+\.\d+/);
  });
});
