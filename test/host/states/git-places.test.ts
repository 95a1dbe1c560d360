import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { which } from '../../../src/modules/_shared/commands/which.ts';
import { nothing } from '../../helpers/nothing.ts';
import { git, makeOrigin } from '../../states/git-origin.ts';
import { makeHost, type TestHost } from '../../states/runner.ts';

let host: TestHost;
let origin: string;
let commit: (text: string) => string;
let target: string;

beforeEach(() => {
  host = makeHost();
  ({ origin, commit } = makeOrigin(host));
  target = join(host.root, 'clone');
});
afterEach(() => host.remove());

const hasGit = which('git') !== undefined;

test.skipIf(!hasGit)(
  'git.detached checks out a tag, a branch and a commit',
  { tags: 'slow' },
  async () => {
    const first = commit('1');
    git(origin, 'tag', '-a', '-m', 'one', 'v1');
    const run = (rev: string, options = {}) =>
      host.state('git.detached', origin, rev, { target, ...options });
    const plan = (rev: string, options = {}) =>
      host.test('git.detached', origin, rev, { target, ...options });
    expect(await plan('v1')).toMatchObject({
      result: null,
      changes: nothing,
      comment: `Repository ${origin} would be cloned to ${target}`,
    });
    expect(existsSync(target)).toBe(false);
    expect(await run('v1')).toMatchObject({
      result: true,
      changes: { HEAD: { old: null, new: first } },
      comment: `${origin} cloned to ${target}. Commit ID ${first} was checked out at ${target}.`,
    });
    for (const again of [await plan('v1'), await run('v1'), await run(first)])
      expect(again).toMatchObject({
        result: true,
        changes: nothing,
        comment: 'Already checked out at correct revision',
      });
    const second = commit('2');
    const changes = { HEAD: { old: first, new: second } };
    expect(await run('main', { fetch_remote: false })).toMatchObject({ changes: nothing });
    expect(await plan('main')).toMatchObject({ result: null, changes });
    host.write('clone/f', 'mine');
    expect(await run('main')).toMatchObject({ result: false });
    expect(host.file('clone/f')).toBe('mine');
    expect(await plan('main', { hard_reset: true })).toMatchObject({
      result: null,
      comment: `Hard reset to HEAD would be performed on ${target}`,
    });
    expect(await run('main', { hard_reset: true })).toMatchObject({ result: true, changes });
    expect(host.file('clone/f')).toBe('2');
    host.write('clone/f', 'mine');
    expect(await run('v1', { force_checkout: true })).toMatchObject({ result: true });
    expect(host.file('clone/f')).toBe('1');
    expect(await run('nowhere')).toMatchObject({
      result: false,
      comment: "Revision 'nowhere' does not exist",
    });
    git(target, 'checkout', '-q', '-B', 'main');
    expect(await run('v1')).toMatchObject({ changes: { HEAD: { old: first, new: first } } });
    expect(git(target, 'branch', '--show-current')).toBe('');
  },
);

test.skipIf(!hasGit)(
  'git.detached sets the remote, and clears a folder only when told',
  async () => {
    commit('1');
    git(origin, 'tag', 'v1');
    host.write('clone/theirs', 'x');
    const run = (options = {}) => host.state('git.detached', origin, 'v1', { target, ...options });
    expect(await run()).toMatchObject({
      result: false,
      comment: expect.stringContaining(
        "is non-empty and is not a git repository. Set the 'force_clone'",
      ),
    });
    expect(await run({ force_clone: true, remote: 'up' })).toMatchObject({
      result: true,
      changes: { 'forced clone': true },
    });
    expect(existsSync(join(target, 'theirs'))).toBe(false);
    expect(git(target, 'remote')).toBe('up');
    git(target, 'remote', 'set-url', 'up', '/elsewhere');
    expect(await run({ remote: 'up' })).toMatchObject({
      result: true,
      comment: `Remote up updated from '/elsewhere' to '${origin}'. Already checked out at correct revision.`,
    });
    expect(git(target, 'remote', 'get-url', 'up')).toBe(origin);
    expect(await run({ output_encoding: 'latin-1' })).toMatchObject({
      result: false,
      comment: "'output_encoding: latin-1' is not supported: git's output is read as UTF-8",
    });
  },
);

test.skipIf(!hasGit)('git.present makes an empty repository once', async () => {
  const name = join(host.root, 'new.git');
  const template = host.write('template/description', 'ours');
  const options = { shared: 'group', template: join(template, '..') };
  expect(await host.test('git.present', name, options)).toMatchObject({
    result: null,
    changes: { new: name },
    comment: 'New bare repository would be created',
  });
  expect(existsSync(name)).toBe(false);
  expect(await host.state('git.present', name, options)).toMatchObject({
    result: true,
    changes: { new: name },
    comment: `Initialized bare repository in ${name}. Template directory set to ${options.template}.`,
  });
  expect(host.file('new.git/description')).toBe('ours');
  expect(statSync(join(name, 'refs')).mode & 0o7070).toBe(0o2070);
  expect(await host.state('git.present', name, options)).toMatchObject({ changes: nothing });
  host.write('full/theirs', 'x');
  const full = join(host.root, 'full');
  expect(await host.state('git.present', full, { bare: false })).toMatchObject({ result: false });
  expect(host.file('full/theirs')).toBe('x');
  expect(await host.state('git.present', full, { bare: false, force: true })).toMatchObject({
    result: true,
    changes: { new: full, 'forced init': true },
  });
  expect(git(full, 'rev-parse', '--is-bare-repository')).toBe('false');
});

test.skipIf(!hasGit)(
  'git.latest fetches new tags and drops those that are gone',
  { tags: 'slow' },
  async () => {
    const head = commit('1');
    git(origin, 'tag', 'old');
    const run = (options = {}) => host.state('git.latest', origin, { target, ...options });
    await run();
    git(origin, 'tag', '-d', 'old');
    git(origin, 'tag', 'new');
    git(origin, 'tag', 'other');
    expect(await run({ sync_tags: false, fetch_tags: false })).toMatchObject({ changes: nothing });
    expect(await host.test('git.latest', origin, { target })).toMatchObject({
      result: null,
      changes: { new_tags: ['new', 'other'], deleted_tags: ['old'] },
    });
    expect(git(target, 'tag')).toBe('old');
    expect(await run({ sync_tags: false, refspec_tag: 'n*' })).toMatchObject({
      result: true,
      changes: { new_tags: ['new'] },
    });
    expect(git(target, 'tag')).toBe('new\nold');
    expect(await run()).toMatchObject({
      changes: { new_tags: ['other'], deleted_tags: ['old'] },
      comment: `Repository ${target} is up-to-date\n\nChanges made: The following tags were removed from the local checkout: old. ${origin} was fetched, resulting in updated refs.`,
    });
    expect(git(target, 'tag')).toBe('new\nother');
    expect(await run()).toMatchObject({ changes: nothing });
    expect(git(target, 'rev-parse', 'HEAD')).toBe(head);
  },
);

test.skipIf(!hasGit)('git.latest fetches only the branches of refspec_branch', async () => {
  commit('1');
  await host.state('git.latest', origin, { target });
  git(origin, 'branch', 'side');
  commit('2');
  await host.state('git.latest', origin, { target, refspec_branch: 'mai*' });
  expect(git(target, 'branch', '--remotes', '--format=%(refname:lstrip=3)')).not.toContain('side');
  expect(host.file('clone/f')).toBe('2');
});

test.skipIf(!hasGit)(
  'git.config_unset takes keys by pattern, and several values only when told',
  async () => {
    commit('1');
    for (const [key = '', value = ''] of [
      ['foo.bar', 'one'],
      ['foo.bar', 'two'],
      ['foo.baz', 'three'],
    ])
      git(origin, 'config', '--add', key, value);
    const run = (name: string, options = {}) =>
      host.state('git.config_unset', name, { repo: origin, ...options });
    expect(await run('foo.bar')).toMatchObject({
      result: false,
      comment:
        "Multivar(s) matched by the key expression (set 'all' to True to force removal): foo.bar (one, two)",
    });
    expect(await run('foo.bar', { value_regex: '^t' })).toMatchObject({
      result: true,
      changes: { 'foo.bar': ['two'] },
      comment: 'Value(s) successfully unset',
    });
    const all = { repo: origin, all: true };
    expect(await host.test('git.config_unset', 'foo\\..+', all)).toMatchObject({
      result: null,
      changes: { 'foo.bar': ['one'], 'foo.baz': ['three'] },
      comment: '2 key(s) would have value(s) unset',
    });
    expect(await run('foo\\..+', { all: true })).toMatchObject({ result: true });
    expect(await run('foo\\..+', { all: true })).toMatchObject({
      changes: nothing,
      comment: 'No matching keys are set',
    });
  },
);
