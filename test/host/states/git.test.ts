import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { which } from '../../../src/modules/_shared/commands/which.ts';
import { commandLines } from '../../helpers/command-lines.ts';
import { nothing } from '../../helpers/nothing.ts';
import { git, makeOrigin } from '../../states/git-origin.ts';
import { makeHost, type TestHost } from '../../states/runner.ts';

let host: TestHost;
let origin: string;

let commit: (text: string) => string;

beforeEach(() => {
  host = makeHost();
  ({ origin, commit } = makeOrigin(host));
});
afterEach(() => host.remove());

const hasGit = which('git') !== undefined;

test.skipIf(!hasGit)(
  'git.latest clones, follows the branch, and does nothing when all is there',
  { tags: 'slow' },
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
      changes: nothing,
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
    // Going back to an older revision is not a fast-forward.
    expect(await run({ rev: 'v1' })).toMatchObject({ result: false });
    expect(await run({ rev: 'v1', force_reset: true })).toMatchObject({
      result: true,
      changes: { revision: { new: first } },
    });
    expect(await run({ rev: 'v1' })).toMatchObject({ result: true, changes: nothing });
    expect(await run({ rev: 'main' })).toMatchObject({
      result: true,
      changes: { revision: { old: first, new: second } },
    });
    host.write('clone/f', 'open');
    expect(await run({ rev: 'main' })).toMatchObject({
      result: true,
      comment: expect.stringContaining('up-to-date, but with uncommitted changes'),
    });
  },
);

test.skipIf(!hasGit)(
  'git.latest keeps local changes unless it may discard them',
  { tags: 'slow' },
  async () => {
    commit('1');
    const target = join(host.root, 'clone');
    await host.state('git.latest', origin, { target });
    host.write('clone/f', 'mine');
    commit('2');
    const refused = await host.state('git.latest', origin, { target });
    expect(refused).toMatchObject({ result: false, changes: nothing });
    expect(host.file('clone/f')).toBe('mine');
    expect(await host.state('git.latest', origin, { target, force_reset: true })).toMatchObject({
      result: true,
    });
    expect(host.file('clone/f')).toBe('2');
  },
);

test.skipIf(!hasGit)(
  'git.latest uses the local branch that is there and never drops its commits',
  { tags: 'slow' },
  async () => {
    const first = commit('1');
    const target = join(host.root, 'clone');
    await host.state('git.latest', origin, { target });
    git(target, 'checkout', '-q', '-b', 'mine');
    host.write('clone/g', 'my work');
    git(target, 'add', '.');
    git(target, '-c', 'user.name=me', '-c', 'user.email=me@x', 'commit', '-qm', 'mine');
    const mine = git(target, 'rev-parse', 'HEAD');
    for (const call of [host.test, host.state])
      expect(await call('git.latest', origin, { target })).toMatchObject({
        result: false,
        changes: nothing,
        comment: expect.stringContaining('this is not a fast-forward merge'),
      });
    // The branch that is named has commits of its own, too.
    git(target, 'branch', '-q', 'other', 'mine');
    git(target, 'checkout', '-q', 'main');
    expect(
      await host.state('git.latest', origin, { target, branch: 'other', rev: 'main' }),
    ).toMatchObject({ result: false, changes: nothing });
    expect(git(target, 'rev-parse', 'other')).toBe(mine);
    git(target, 'checkout', '-q', 'mine');
    expect(await host.state('git.latest', origin, { target, force_reset: true })).toMatchObject({
      result: true,
      changes: { 'forced update': true, revision: { old: mine, new: first } },
      comment: `Repository was hard-reset to remote HEAD (${first.slice(0, 7)})`,
    });
    expect(git(target, 'symbolic-ref', '--short', 'HEAD')).toBe('mine');
  },
);

test.skipIf(!hasGit)('git.latest fills a repository that has no commit yet', async () => {
  const sha = commit('1');
  const target = join(host.root, 'fresh');
  host.write('fresh/.keep', '');
  git(target, 'init', '-q', '-b', 'main');
  expect(await host.test('git.latest', origin, { target, rev: 'main' })).toMatchObject({
    result: null,
    comment: expect.stringContaining(`would be updated to ${sha.slice(0, 7)}`),
  });
  expect(await host.state('git.latest', origin, { target, rev: 'main' })).toMatchObject({
    result: true,
    changes: { revision: { old: null, new: sha } },
    comment: expect.stringContaining(
      `Repository was fast-forwarded to origin/main (${sha.slice(0, 7)})`,
    ),
  });
  expect(host.file('fresh/f')).toBe('1');
  expect(git(target, 'rev-parse', '--abbrev-ref', '@{u}')).toBe('origin/main');
});

test.skipIf(!hasGit)('git.config_set writes a boolean as Salt does', async () => {
  commit('1');
  expect(
    await host.state('git.config_set', 'core.fine', { value: true, repo: origin }),
  ).toMatchObject({ changes: { 'core.fine': { old: null, new: ['True'] } } });
  expect(git(origin, 'config', 'core.fine')).toBe('True');
  expect(git(origin, 'config', '--type=bool', 'core.fine')).toBe('true');
});

test.skipIf(!hasGit)('git refuses to go on without any of the keys it is given', async () => {
  commit('1');
  const target = join(host.root, 'clone');
  const key = join(host.root, 'no-key');
  expect(await host.state('git.latest', origin, { target, identity: key })).toMatchObject({
    result: false,
    comment: expect.stringContaining(`identity file(s) were not found: ${key}`),
  });
  host.write('a-key', 'x');
  const identity = [key, join(host.root, 'a-key')];
  expect(await host.state('git.latest', origin, { target, identity })).toMatchObject({
    result: true,
  });
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
    changes: nothing,
  });
  const options = { value: 'Anna', repo: target };
  expect(await host.state('git.config_set', 'user.name', options)).toMatchObject({
    changes: { 'user.name': { old: null, new: ['Anna'] } },
    comment: "'user.name' was added as 'Anna'",
  });
  expect(await host.state('git.config_set', 'user.name', options)).toMatchObject({
    result: true,
    changes: nothing,
  });
  expect(git(target, 'config', '--local', 'user.name')).toBe('Anna');
});

test.skipIf(!hasGit)('a revision cannot become an option of git', async () => {
  commit('1');
  const result = await host.state('git.latest', origin, {
    target: join(host.root, 'c'),
    rev: '--upload-pack=x',
  });
  expect(result).toMatchObject({ result: false, changes: nothing });
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

/** A dumb HTTP server: files of a bare repository, protected by a password. */
const startServer = async (root: string) => {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(...commandLines().filter(line => /s3.{1,3}cret|127\.0\.0\.1/.test(line)));
    const wanted = `Basic ${Buffer.from('app:s3:cret/@').toString('base64')}`;
    const file = join(root, decodeURIComponent((request.url ?? '').split('?')[0] ?? ''));
    if (request.headers.authorization !== wanted) {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end();
    } else if (!existsSync(file) || !statSync(file).isFile()) response.writeHead(404).end();
    else response.writeHead(200).end(readFileSync(file));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, seen, close: () => server.close() };
};

test.skipIf(!hasGit)(
  'git.latest logs in over http, and the password is written nowhere',
  async () => {
    commit('1');
    const bare = join(host.root, 'served/app.git');
    git(origin, 'clone', '-q', '--bare', origin, bare);
    git(bare, 'update-server-info');
    const server = await startServer(join(host.root, 'served'));
    try {
      const target = join(host.root, 'clone');
      const name = `${server.url}/app.git`;
      const login = { https_user: 'app', https_pass: 's3:cret/@' };
      const run = (options: object) => host.state('git.latest', name, { target, ...options });
      expect((await run({})).result).toBe(false);
      const wrong = await run({ ...login, https_pass: 'wr0ng' });
      expect(wrong.result).toBe(false);
      expect(wrong.comment).not.toContain('wr0ng');
      const made = await run(login);
      expect(made.result, String(made.comment)).toBe(true);
      expect(host.file('clone/f')).toBe('1');
      commit('2');
      git(bare, 'fetch', '-q', origin, '+main:main');
      git(bare, 'update-server-info');
      expect((await run(login)).result).toBe(true);
      expect(host.file('clone/f')).toBe('2');
      expect(git(target, 'remote', 'get-url', 'origin')).toBe(name);
      const holds = spawnSync('grep', ['-r', 'cret', target], { encoding: 'utf8' });
      expect(holds.stdout).toBe('');
      expect(JSON.stringify(made)).not.toContain('cret');
      expect(
        await host.state('git.latest', origin, { target: `${target}2`, ...login }),
      ).toMatchObject({
        result: false,
        comment:
          "Failed to check remote refs: 'https_user' and 'https_pass' are only for https:// URLs",
      });
    } finally {
      server.close();
    }
  },
);

test.skipIf(!hasGit)(
  'a password in the address of a repository is neither an argument of a process nor kept',
  { tags: 'slow' },
  async () => {
    commit('1');
    const bare = join(host.root, 'served/app.git');
    git(origin, 'clone', '-q', '--bare', origin, bare);
    git(bare, 'update-server-info');
    const server = await startServer(join(host.root, 'served'));
    try {
      const plain = `${server.url}/app.git`;
      const name = plain.replace('://', '://app:s3%3Acret%2F%40@');
      const target = join(host.root, 'clone');
      const run = async (state: string, ...args: object[]) => {
        const done = await host.state(state, name, ...args);
        expect(done.result, String(done.comment)).toBe(true);
        expect(JSON.stringify({ ...done, name: '' })).not.toContain('cret');
        return done;
      };
      await run('git.latest', { target });
      expect(await run('git.latest', { target })).toMatchObject({ changes: nothing });
      commit('2');
      git(bare, 'fetch', '-q', origin, '+main:main');
      git(bare, 'update-server-info');
      await run('git.latest', { target });
      expect(host.file('clone/f')).toBe('2');
      await run('git.cloned', { target: `${target}2` });
      await host.call('git.pull', target, { opts: `${name} main` });
      await host.call('git.remote_set', target, name, { remote: 'other' });
      expect(git(target, 'remote', 'get-url', 'other')).toBe(plain);
      expect(await host.call('git.ls_remote', null, { remote: name })).toHaveProperty('HEAD');
      // A clone that somebody made with the password in its address loses it.
      git(target, 'remote', 'set-url', 'origin', name);
      expect(await run('git.latest', { target })).toMatchObject({
        changes: nothing,
        comment: expect.stringContaining("Remote 'origin' changed from http://<redacted>@"),
      });
      const holds = spawnSync('grep', ['-r', 'cret', target], { encoding: 'utf8' });
      expect(holds.stdout).toBe('');
      expect(server.seen.length).toBeGreaterThan(0);
      expect(server.seen.filter(line => /s3.{1,3}cret/.test(line))).toEqual([]);
    } finally {
      server.close();
    }
  },
);

test.skipIf(!hasGit)('git: commits, branches, tags and what differs', async () => {
  const cwd = join(host.root, 'work');
  const call = (fun: string, ...args: unknown[]) => host.call(`git.${fun}`, cwd, ...args);
  await host.call('git.init', cwd, { opts: '--initial-branch=main' });
  expect(await call('rev_parse', null, { opts: '--is-bare-repository' })).toBe('false');
  for (const [key, value] of [
    ['user.name', 't'],
    ['user.email', 't@example.com'],
  ])
    await host.call('git.config_set', key, { value, cwd });
  host.write('work/a b', '1');
  expect(await call('status')).toEqual({ untracked: ['a b'] });
  expect(await call('add', 'a b')).toBe("add 'a b'");
  await call('commit', 'One; $(two)');
  expect(git(cwd, 'log', '--format=%s')).toBe('One; $(two)');
  await call('tag', 'v1', { message: 'first' });
  await call('branch', 'fix');
  expect(await call('list_branches')).toEqual(['fix', 'main']);
  expect(await call('list_tags')).toEqual(['v1']);
  expect(await call('describe')).toBe('v1');
  expect(await call('rev_parse', 'v1^{commit}')).toBe(git(cwd, 'rev-parse', 'HEAD'));
  host.write('work/a b', '2');
  expect(await call('status')).toEqual({ modified: ['a b'] });
  await call('stash');
  expect(await call('status')).toEqual({});
  await call('stash', 'pop');
  await call('checkout', 'fix');
  await call('commit', 'Two', { opts: '-a' });
  await call('checkout', 'main');
  await call('merge', { rev: 'fix' });
  expect(host.file('work/a b')).toBe('2');
  await host.call('git.init', join(host.root, 'bare.git'), { bare: true });
  await call('remote_set', join(host.root, 'bare.git'));
  expect(await call('push', 'origin', 'main')).toContain('refs/heads/main');
  expect(git(join(host.root, 'bare.git'), 'rev-parse', 'main')).toBe(git(cwd, 'rev-parse', 'HEAD'));
  await call('rm', 'a b');
  expect(await call('status')).toEqual({ deleted: ['a b'] });
  await expect(call('branch', '-D')).rejects.toThrow("'-D' is not a valid branch");
});

test.skipIf(!hasGit)('git: worktrees, merge bases, diffs, archives and what came', async () => {
  const first = commit('1');
  git(origin, 'branch', 'fix');
  const second = commit('2');
  const call = (fun: string, ...args: unknown[]) => host.call(`git.${fun}`, origin, ...args);

  expect(await call('merge_base', 'main,fix')).toBe(first);
  expect(await call('merge_base', ['fix', 'main'], { is_ancestor: true })).toBe(true);
  expect(await call('merge_base', ['main', 'fix'], { is_ancestor: true })).toBe(false);
  expect(await call('merge_base', ['main', 'fix'], { all: true })).toEqual([first]);
  await expect(call('merge_base', 'main', { is_ancestor: true })).rejects.toThrow('Two refs');
  expect(await call('diff', 'fix', 'main')).toContain('-1\n');
  expect(await call('diff', 'fix', 'main', { paths: 'none' })).toBe('');
  host.write('origin/f', '3');
  expect(await call('diff', null, null, { opts: '--stat' })).toContain('1 file changed');
  await call('discard_local_changes');
  expect(host.file('origin/f')).toBe('2');
  expect(await call('symbolic_ref', 'HEAD')).toBe('refs/heads/main');
  await expect(call('symbolic_ref', 'HEAD', 'x', { opts: '--delete' })).rejects.toThrow('-d');

  const tree = join(host.root, 'tree');
  expect(await call('worktree_add', tree, { ref: 'fix', branch: 'other' })).toContain('Preparing');
  expect(await call('list_worktrees')).toMatchObject({
    [origin]: { branch: 'main', HEAD: second, stale: false, detached: false },
    [tree]: { branch: 'other', HEAD: first },
  });
  expect(await host.call('git.is_worktree', tree)).toBe(true);
  expect(await call('is_worktree')).toBe(false);
  await expect(call('worktree_rm')).rejects.toThrow('is not a git worktree');
  expect(await host.call('git.worktree_rm', tree)).toBe(true);
  expect(Object.keys((await call('list_worktrees', { stale: true })) as object)).toEqual([tree]);
  expect(await call('worktree_prune')).toContain('tree');
  expect(await call('list_worktrees', { stale: true })).toEqual({});

  expect(await call('archive', join(host.root, 'a.tar'), { prefix: 'in/' })).toBe(true);
  expect(execFileSync('tar', ['tf', join(host.root, 'a.tar')]).toString()).toBe('in/\nin/f\n');

  const clone = join(host.root, 'clones', 'one');
  await host.call('git.clone', join(host.root, 'clones'), origin, { name: 'one' });
  git(origin, 'tag', 'v1');
  const third = commit('3');
  git(origin, 'branch', 'new');
  expect(await host.call('git.fetch', clone)).toMatchObject({
    'new tags': ['v1'],
    'new branches': ['new'],
    'updated branches': { main: { old: expect.any(String), new: third.slice(0, 7) } },
  });
  expect(await host.call('git.ls_remote', clone, { ref: 'fix' })).toEqual({
    'refs/heads/fix': first,
  });
  expect(
    Object.keys((await host.call('git.remote_refs', origin, { tags: true })) as object),
  ).toEqual(['refs/tags/v1']);
  expect(await host.call('git.rebase', clone, 'origin/main')).toBeTypeOf('string');
  expect(git(clone, 'rev-parse', 'HEAD')).toBe(third);
});

test.skipIf(!hasGit)('git: keys of the configuration, and what no key is', async () => {
  commit('1');
  const cwd = origin;
  await host.call('git.config_set', 'a.b', { multivar: 'x,y', cwd });
  expect(await host.call('git.config_get', 'a.b', { cwd })).toBe('y');
  expect(await host.call('git.config_get', 'a.b', { cwd, all: true })).toEqual(['x', 'y']);
  expect(await host.call('git.config_set', 'a.b', { value: 'z', add: true, cwd })).toEqual([
    'x',
    'y',
    'z',
  ]);
  expect(await host.call('git.config_get_regexp', '^a[.]', { value_regex: 'x|z', cwd })).toEqual({
    'a.b': ['x', 'z'],
  });
  const unset = (key: string, options = {}) =>
    host.call('git.config_unset', key, { cwd, ...options });
  await expect(unset('a.b')).rejects.toThrow("Multiple values exist for key 'a.b'");
  expect(await unset('a.b', { value_regex: '^z$' })).toBe(true);
  expect(await unset('a.b', { all: true })).toBe(true);
  await expect(unset('a.b')).rejects.toThrow("Key 'a.b' does not exist");
  await expect(host.call('git.config_get', 'a.b')).rejects.toThrow("'cwd' argument required");
});

test.skipIf(!hasGit)('git.status returns a renamed file under its new name alone', async () => {
  writeFileSync(join(origin, 'Dockerfile'), 'FROM scratch\n');
  execFileSync('git', ['add', 'Dockerfile'], { cwd: origin });
  commit('1');
  execFileSync('git', ['mv', 'Dockerfile', 'other'], { cwd: origin });
  writeFileSync(join(origin, 'new'), '');
  expect(await host.call('git.status', origin)).toEqual({ R: ['other'], untracked: ['new'] });
});

test.skipIf(!hasGit)(
  'git: other encodings, and passwords for files of a repository, are refused by name',
  async () => {
    commit('1');
    await expect(host.call('git.status', origin, { output_encoding: 'latin1' })).rejects.toThrow(
      "'output_encoding: latin1' is not supported",
    );
    await expect(
      host.call('git.remote_set', origin, 'https://h/x', { https_user: 'a', https_pass: 's3cret' }),
    ).rejects.toThrow('are not written into a repository');
    expect(
      await host.call('git.rev_parse', origin, 'HEAD', {
        git_opts: '-c core.abbrev=12',
        opts: '--short',
      }),
    ).toHaveLength(12);
  },
);
