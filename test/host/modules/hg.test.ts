// @module-tag slow
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { which } from '../../../src/modules/_shared/commands/which.ts';
import { nothing } from '../../helpers/nothing.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';
import { makeHost, type TestHost } from '../../states/runner.ts';

const folder = mkdtempSync(join(tmpdir(), 'tsalt-hg-'));
const origin = join(folder, 'origin');
let host: TestHost;

const hg = (...args: string[]): string =>
  execFileSync('hg', args, {
    cwd: origin,
    encoding: 'utf8',
    env: { ...process.env, HGPLAIN: '1', HGUSER: 'ann <ann@example.org>' },
  }).trim();
const commit = (text: string): string => {
  writeFileSync(join(origin, 'readme'), text);
  hg('commit', '-A', '-m', text);
  return hg('id', '-i', '--debug');
};

const slow = 60_000;

const has = which('hg') !== undefined;
const real = test.skipIf(!has);
beforeAll(() => {
  host = makeHost();
  if (!has) return;
  mkdirSync(origin);
  hg('init');
  commit('one');
  hg('tag', 'v1');
}, slow);
afterAll(() => {
  host.remove();
  removeFolder(folder);
});

real(
  'a clone comes, follows its origin, and stays',
  async () => {
    const target = join(folder, 'clone');
    const first = hg('id', '-i', '--debug');
    const latest = (more = {}) => host.state('hg.latest', origin, { target, ...more });
    const told = (more = {}) => host.test('hg.latest', origin, { target, ...more });
    mkdirSync(target);
    expect(await told()).toEqual({
      name: origin,
      result: null,
      changes: { new: origin },
      comment: `Repository ${origin} is about to be cloned to ${target}`,
    });
    expect(existsSync(target)).toBe(true);
    expect(await latest()).toEqual({
      name: origin,
      result: true,
      changes: { new: origin, revision: first },
      comment: `Repository ${origin} cloned to ${target}`,
    });
    expect(await told()).toMatchObject({ result: true, changes: nothing });
    expect(await latest()).toEqual({ name: origin, result: true, changes: {}, comment: '' });
    const second = commit('two');
    const changes = { revision: `${first} => ${second}` };
    expect(await told()).toMatchObject({ result: null, changes });
    expect(readFileSync(join(target, 'readme'), 'utf8')).toBe('one');
    expect(await latest({ update_head: false })).toMatchObject({
      result: true,
      changes: nothing,
      comment: 'Update is probably required but update_head=False so we will skip updating.',
    });
    expect(await latest()).toMatchObject({ comment: `Repository ${target} updated.`, changes });
    expect(readFileSync(join(target, 'readme'), 'utf8')).toBe('two');
    const tagged = hg('id', '-i', '--debug', '-r', 'v1');
    expect(await latest({ rev: 'v1' })).toMatchObject({
      changes: { revision: `${second} => ${tagged}` },
    });
    expect(await told({ rev: 'v1' })).toMatchObject({ result: true, changes: nothing });
    expect(await latest({ rev: 'none' })).toMatchObject({
      result: false,
      comment: expect.stringContaining("unknown revision 'none'"),
    });
  },
  slow,
);

real(
  'a folder with other things goes only by force, and never in test mode',
  async () => {
    const target = join(folder, 'other');
    mkdirSync(target);
    writeFileSync(join(target, 'file'), 'x');
    expect(await host.state('hg.latest', origin, { target })).toMatchObject({
      result: false,
      comment: 'Directory exists, and is not empty',
    });
    expect(await host.test('hg.latest', origin, { target, force: true })).toMatchObject({
      result: null,
    });
    expect(existsSync(join(target, 'file'))).toBe(true);
    expect(await host.state('hg.latest', origin, { target, force: true, rev: 'v1' })).toMatchObject(
      {
        result: true,
        changes: { revision: hg('id', '-i', '--debug', '-r', 'v1') },
      },
    );
    expect(existsSync(join(target, 'file'))).toBe(false);
    expect(await host.state('hg.latest', origin)).toMatchObject({ result: false });
  },
  slow,
);

real(
  'the functions work on a clone',
  async () => {
    const clone = join(folder, 'work');
    await host.call('hg.clone', clone, origin);
    writeFileSync(join(clone, 'a b'), '');
    writeFileSync(join(clone, 'readme'), 'changed');
    const status = { modified: ['readme'], 'not tracked': ['a b'] };
    expect(await host.call('hg.status', clone)).toEqual(status);
    expect(await host.call('hg.status', [clone])).toEqual({ [clone]: status });
    const short = await host.call('hg.revision', clone, 'tip', true);
    expect(short).toMatch(/^[0-9a-f]{12}$/);
    expect(await host.call('hg.revision', clone, 'none')).toBe('');
    expect(await host.call('hg.describe', clone)).toBe(`v1-2-${short}`);
    const output = join(folder, 'a.tar');
    await host.call('hg.archive', clone, output, 'tip', null, 'top');
    expect(execFileSync('tar', ['tf', output], { encoding: 'utf8' })).toContain('top/readme');
    await host.call('hg.update', clone, 'v1', true);
    expect(readFileSync(join(clone, 'readme'), 'utf8')).toBe('one');
    expect(await host.call('hg.pull', clone)).toContain('no changes found');
    await expect(host.call('hg.pull', clone, null, null, null, '--config=x')).rejects.toThrow(
      'Hg command failed: abort: repository --config=x not found',
    );
  },
  slow,
);
