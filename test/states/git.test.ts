import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { which } from '../../src/modules/lib/which.ts';
import { makeHost, type TestHost } from './runner.ts';

let host: TestHost;
let origin: string;

const git = (cwd: string, ...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args], {
    cwd,
    stdio: 'pipe',
  })
    .toString()
    .trim();

const commit = (text: string): string => {
  host.write('origin/f', text);
  git(origin, 'add', '.');
  git(origin, 'commit', '-qm', text);
  return git(origin, 'rev-parse', 'HEAD');
};

beforeEach(() => {
  host = makeHost();
  host.write('origin/f', '0');
  origin = join(host.root, 'origin');
  git(origin, 'init', '-q', '-b', 'main');
});
afterEach(() => host.remove());

const hasGit = which('git') !== undefined;

test.skipIf(!hasGit)(
  'git.latest clones, follows the branch, and does nothing when all is there',
  async () => {
    const first = commit('1');
    const target = join(host.root, 'clone');
    const run = (options = {}) => host.state('git.latest', origin, { target, ...options });
    expect(await host.test('git.latest', origin, { target })).toMatchObject({ result: null });
    expect(await run()).toMatchObject({
      result: true,
      changes: { revision: { old: null, new: first } },
    });
    expect(await run()).toMatchObject({
      result: true,
      changes: {},
      comment: `Repository ${target} is up-to-date`,
    });
    const second = commit('2');
    expect(await host.test('git.latest', origin, { target })).toMatchObject({
      result: null,
      changes: { revision: { old: first, new: second } },
    });
    expect(await run()).toMatchObject({
      result: true,
      changes: { revision: { old: first, new: second } },
    });
    expect(host.file('clone/f')).toBe('2');
    git(origin, 'tag', 'v1', first);
    expect(await run({ rev: 'v1' })).toMatchObject({
      result: true,
      changes: { revision: { new: first } },
    });
    expect(await run({ rev: 'v1' })).toMatchObject({ result: true, changes: {} });
    expect(await run({ rev: 'main' })).toMatchObject({ result: true });
  },
);

test.skipIf(!hasGit)('git.latest keeps local changes unless it is told not to', async () => {
  commit('1');
  const target = join(host.root, 'clone');
  await host.state('git.latest', origin, { target });
  host.write('clone/f', 'mine');
  commit('2');
  const refused = await host.state('git.latest', origin, { target });
  expect(refused).toMatchObject({ result: false, changes: {} });
  expect(host.file('clone/f')).toBe('mine');
  expect(await host.state('git.latest', origin, { target, force_reset: true })).toMatchObject({
    result: true,
  });
  expect(host.file('clone/f')).toBe('2');
});

test.skipIf(!hasGit)('git.cloned and git.config_set act once', async () => {
  commit('1');
  const target = join(host.root, 'clone');
  expect(await host.state('git.cloned', origin, { target })).toMatchObject({
    result: true,
    changes: { new: `${origin} => ${target}` },
  });
  expect(await host.state('git.cloned', origin, { target })).toMatchObject({
    result: true,
    changes: {},
  });
  const options = { value: 'Anna', repo: target };
  expect(await host.state('git.config_set', 'user.name', options)).toMatchObject({
    changes: { 'user.name': { old: null, new: 'Anna' } },
  });
  expect(await host.state('git.config_set', 'user.name', options)).toMatchObject({
    result: true,
    changes: {},
  });
  expect(git(target, 'config', '--local', 'user.name')).toBe('Anna');
});

test.skipIf(!hasGit)('a revision cannot become an option of git', async () => {
  commit('1');
  const result = await host.state('git.latest', origin, {
    target: join(host.root, 'c'),
    rev: '--upload-pack=x',
  });
  expect(result).toMatchObject({ result: false, changes: {} });
});

test.skipIf(!hasGit).each([
  ['a program as transport', 'ext::sh -c touch% ROOT/pwned'],
  ['a host that is an option', 'git+ssh://-oProxyCommand=touch ROOT/pwned/x'],
  ['a host that is an option', 'ssh://-oProxyCommand=touch${IFS}ROOT/pwned/x'],
  ['a short address that is an option', '-oProxyCommand=touch ROOT/pwned:x'],
  ['an option of git', '--upload-pack=touch ROOT/pwned'],
  ['a descriptor', 'fd::17/x'],
])('%s is refused as a repository, and nothing of it runs: %s', async (_, text) => {
  const name = text.replaceAll('ROOT', host.root);
  const target = join(host.root, 'clone');
  for (const run of [host.test, host.state])
    expect(await run('git.latest', name, { target })).toMatchObject({ result: false });
  expect(await host.state('git.cloned', name, { target })).toMatchObject({ result: false });
  expect(existsSync(join(host.root, 'pwned'))).toBe(false);
  expect(existsSync(target)).toBe(false);
});
