import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeHost, type TestHost } from '../../states/runner.ts';

let host: TestHost;
let repo: string;
const git = (cwd: string, ...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trim();

const commit = (cwd: string, text: string): string => {
  writeFileSync(join(cwd, 'file'), `${text}\n`);
  git(cwd, 'add', '.');
  git(cwd, 'commit', '-qm', text);
  return git(cwd, 'rev-parse', 'HEAD');
};

const newRepo = (name: string): string => {
  const folder = join(host.root, name);
  mkdirSync(folder);
  git(folder, 'init', '-q', '-b', 'main');
  return folder;
};

beforeEach(() => {
  host = makeHost();
  repo = newRepo('repo');
});
afterEach(() => host.remove());

test('git.merge_base, git.diff and git.symbolic_ref read commits', async () => {
  const first = commit(repo, 'one');
  git(repo, 'branch', 'old');
  const second = commit(repo, 'two');
  expect(await host.call('git.merge_base', repo, ['main', 'old'])).toBe(first);
  const isAncestor = { is_ancestor: true };
  expect(await host.call('git.merge_base', repo, 'old,main', isAncestor)).toBe(true);
  expect(await host.call('git.merge_base', repo, 'main,old', isAncestor)).toBe(false);
  expect(await host.call('git.diff', repo, first, second)).toContain('-one\n+two');
  expect(await host.call('git.symbolic_ref', repo, 'HEAD')).toBe('refs/heads/main');
  const both = { no_index: true, cached: true };
  await expect(host.call('git.diff', repo, 'a', 'b', both)).rejects.toThrow('cannot be used');
});

test('git.submodule refuses the old argument init, and runs the command', async () => {
  const part = newRepo('part');
  commit(part, 'part');
  commit(repo, 'one');
  git(repo, '-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', part, 'sub');
  commit(repo, 'with a submodule');
  expect(await host.call('git.submodule', repo, 'status')).toContain('sub');
  await expect(host.call('git.submodule', repo, 'update', { init: true })).rejects.toThrow(
    "The 'init' argument is no longer supported",
  );
  const copy = join(host.root, 'copy');
  git(host.root, 'clone', '-q', repo, copy);
  const git_opts = '-c protocol.file.allow=always';
  await host.call('git.submodule_update', copy, { git_opts });
  expect(existsSync(join(copy, 'sub', 'file'))).toBe(true);
});
