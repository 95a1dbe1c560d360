import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { which } from '../../../src/modules/_shared/commands/which.ts';
import { nothing } from '../../helpers/nothing.ts';
import { git, makeOrigin } from '../../states/git-origin.ts';
import { makeHost, snapshot, type TestHost } from '../../states/runner.ts';

// The expected results are those of Salt 3006.9 in the same situations.

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

const short = (sha: string): string => sha.slice(0, 7);

/** A test must leave the clone as it is, down to the times of its files. */
const plan = async (options: object = {}) => {
  const before = existsSync(target) ? snapshot(target) : undefined;
  const answer = await host.test('git.latest', origin, { target, ...options });
  expect(existsSync(target) ? snapshot(target) : undefined).toEqual(before);
  return answer;
};

const run = (options: object = {}) => host.state('git.latest', origin, { target, ...options });

test.skipIf(!hasGit)(
  'git.latest says which branch it makes, and what it follows',
  { tags: 'slow' },
  async () => {
    const first = commit('1');
    git(origin, 'branch', 'dev');
    await run();
    const place = `origin/dev (${short(first)}) as a starting point`;
    expect(await plan({ rev: 'dev', branch: 'mine' })).toMatchObject({
      result: true,
      changes: nothing,
      comment: `Repository ${target} is up-to-date\n\nChanges that would be made: New branch 'mine' would be checked out, with ${place}. Tracking branch would be set to origin/dev. Tracking branch would be updated to origin/dev.`,
    });
    expect(await run({ rev: 'dev', branch: 'mine' })).toMatchObject({
      result: true,
      comment: `Repository ${target} is up-to-date\n\nChanges made: New branch 'mine' was checked out, with ${place}`,
    });
    expect(git(target, 'rev-parse', '--abbrev-ref', '@{u}')).toBe('origin/dev');
    git(origin, 'tag', 'v1');
    expect(await run({ rev: 'v1', branch: 'mine' })).toMatchObject({
      result: true,
      comment: expect.stringContaining('Tracking branch was unset'),
    });
    const second = commit('2');
    expect(await plan({ branch: 'main' })).toMatchObject({
      result: null,
      changes: { revision: { old: first, new: second } },
      comment: `Remote 'origin' would be fetched. Branch 'main' would be checked out and updated to ${short(second)}.`,
    });
    expect(await run({ branch: 'main' })).toMatchObject({
      result: true,
      changes: { revision: { old: first, new: second } },
      comment: `${origin} was fetched, resulting in updated refs. 'main' was checked out. Repository was fast-forwarded to remote HEAD (${short(second)}).`,
    });
  },
);

test.skipIf(!hasGit)(
  'git.latest refuses in a test what it refuses in earnest',
  { tags: 'slow' },
  async () => {
    commit('1');
    git(origin, 'tag', 'v1');
    await run();
    host.write('clone/f', 'mine');
    const second = commit('2');
    git(origin, 'tag', '-f', 'v1');
    const uncommitted = `but there are uncommitted changes. Set 'force_reset' to True (or 'remote-changes') to force this update and discard these changes.`;
    for (const each of [await plan(), await run()])
      expect(each).toMatchObject({ result: false, comment: expect.stringContaining(uncommitted) });
    git(target, 'checkout', '-q', 'f');
    expect(await run()).toMatchObject({ result: true });
    const moved = `'v1' is a tag, but the remote SHA1 for this tag (${short(second)}) doesn't match the local SHA1`;
    git(target, 'tag', '-f', 'v1', 'HEAD~1');
    for (const each of [await plan({ rev: 'v1' }), await run({ rev: 'v1' })])
      expect(each).toMatchObject({ result: false, comment: expect.stringContaining(moved) });
    const depth = "When 'depth' is used, 'rev' must be set to the name of a branch or tag";
    for (const each of [await plan({ depth: 1 }), await run({ depth: 1 })])
      expect(each).toMatchObject({ result: false, comment: expect.stringContaining(depth) });
    for (const [options, comment] of [
      [{ force_reset: 'always' }, "'force_reset' must be one of True, False, or 'remote-changes'"],
      [{ rev: '' }, "'' is not a valid value for the 'rev' argument"],
    ] as const)
      expect(await plan(options)).toMatchObject({ result: false, comment });
  },
);

test.skipIf(!hasGit)('git.latest reports what force_reset discards', async () => {
  const first = commit('1');
  await run();
  host.write('clone/f', 'mine');
  const forced = { force_reset: true };
  expect(await plan(forced)).toMatchObject({
    result: null,
    changes: { 'forced update': true },
    comment: expect.stringContaining('these local changes would be reset'),
  });
  expect(await plan({ force_reset: 'remote-changes' })).toMatchObject({
    result: true,
    changes: nothing,
  });
  expect(await run(forced)).toMatchObject({
    result: true,
    changes: { 'forced update': true },
    comment: `Repository ${target} is up-to-date\n\nChanges made: Uncommitted changes were discarded. Repository was hard-reset to remote HEAD (${short(first)}).`,
  });
  expect(host.file('clone/f')).toBe('1');
  host.write('clone/f', 'mine');
  const second = commit('2');
  const some = { force_reset: 'remote-changes' };
  expect(await plan(some)).toMatchObject({ result: null });
  expect(await run(some)).toMatchObject({
    result: true,
    changes: { revision: { old: first, new: second } },
    comment: `${origin} was fetched, resulting in updated refs. Uncommitted changes were discarded. Repository was fast-forwarded to remote HEAD (${short(second)}).`,
  });
});

test.skipIf(!hasGit)(
  'git.latest fetches a branch that was written anew only by force',
  async () => {
    const first = commit('1');
    git(origin, 'branch', 'dev');
    await run();
    git(origin, 'checkout', '-q', 'dev');
    git(origin, 'commit', '-q', '--amend', '-m', 'anew');
    git(origin, 'checkout', '-q', 'main');
    const second = commit('2');
    expect(await run()).toMatchObject({
      result: false,
      comment: expect.stringMatching(
        /^Fetch failed\. Set 'force_fetch' to True.*non-fast-forward/s,
      ),
    });
    expect(git(target, 'rev-parse', 'HEAD')).toBe(first);
    expect(await run({ force_fetch: true })).toMatchObject({
      result: true,
      changes: { revision: { old: first, new: second } },
    });
  },
);

test.skipIf(!hasGit)(
  'git.latest points a remote elsewhere, and update_head leaves HEAD',
  async () => {
    const first = commit('1');
    await run();
    git(target, 'remote', 'set-url', 'origin', '/elsewhere');
    const change = `changed from /elsewhere to ${origin}`;
    expect(await plan()).toMatchObject({
      result: true,
      changes: nothing,
      comment: `Repository ${target} is up-to-date\n\nChanges that would be made: Remote 'origin' would be ${change}`,
    });
    expect(await run()).toMatchObject({
      result: true,
      changes: nothing,
      comment: `Repository ${target} is up-to-date\n\nChanges made: Remote 'origin' ${change}`,
    });
    expect(git(target, 'remote', 'get-url', 'origin')).toBe(origin);
    expect(await run({ remote: 'up' })).toMatchObject({
      result: true,
      changes: { new: `${origin} => up` },
    });
    const second = commit('2');
    const stays = { update_head: false };
    expect(await plan(stays)).toMatchObject({
      result: true,
      changes: nothing,
      comment: `Remote 'origin' would be fetched. Local HEAD (${short(first)}) does not match remote HEAD (${short(second)}) but update_head=False, HEAD would not be updated locally.`,
    });
    const behind = `Remote head (${short(second)}) is already present and local HEAD (${short(first)}) does not match, but update_head=False. HEAD has not been updated locally.`;
    for (const each of [await run(stays), await plan(stays)])
      expect(each).toMatchObject({ result: true, changes: nothing, comment: behind });
    expect(git(target, 'rev-parse', 'HEAD')).toBe(first);
  },
);

test.skipIf(!hasGit)(
  'git.latest clones as it predicts: a branch, a tag, a bare repository',
  async () => {
    const first = commit('1');
    git(origin, 'tag', 'v1');
    commit('2');
    host.write('clone/theirs', 'x');
    const options = { rev: 'v1', branch: 'mine', force_clone: true };
    expect(await plan(options)).toMatchObject({
      result: null,
      changes: { 'forced clone': true, new: `${origin} => ${target}` },
    });
    expect(await run(options)).toMatchObject({
      result: true,
      changes: {
        'forced clone': true,
        new: `${origin} => ${target}`,
        revision: { old: null, new: first },
      },
      comment: `${origin} cloned to ${target}. Branch 'mine' checked out, with v1 (${short(first)}) as a starting point.`,
    });
    rmSync(target, { recursive: true });
    expect(await run({ rev: 'v1' })).toMatchObject({
      comment: `${origin} cloned to ${target}. Repository was reset to v1 (${short(first)}). Tracking branch was unset.`,
    });
    rmSync(target, { recursive: true });
    expect(await run({ bare: true })).toMatchObject({
      comment: `${origin} cloned to ${target} as bare repository`,
    });
    const third = commit('3');
    expect(await plan({ bare: true })).toMatchObject({
      result: null,
      changes: { revision: { new: third } },
      comment: `Bare repository at ${target} would be fetched`,
    });
    expect(await run({ bare: true })).toMatchObject({
      changes: { revision: { new: third } },
      comment: `Bare repository at ${target} was fetched, resulting in updated refs`,
    });
    expect(await plan({ bare: true })).toMatchObject({ result: true, changes: nothing });
  },
);
