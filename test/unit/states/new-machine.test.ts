import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { makeHost, type TestHost } from '../../states/runner.ts';

let host: TestHost;
beforeEach(() => {
  host = makeHost();
});
afterEach(() => host.remove());

const user = 'tsalt-nobody-yet';
const origin = 'https://127.0.0.1:1/none.git';
const key = 'AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl';

/** States that need an account, a folder or a file which an earlier state of the same run makes. */
const cases: [fun: string, name: string, args: Record<string, unknown>][] = [
  ['cron.present', 'backup', { user }],
  ['cron.env_present', 'PATH', { user, value: '/bin' }],
  ['git.latest', origin, { user, target: 'ROOT/app' }],
  ['git.config_set', 'user.name', { user, global: true, value: 'x' }],
  ['git.config_set', 'user.name', { repo: 'ROOT/app', value: 'x' }],
  ['ssh_known_hosts.present', 'example.com', { user, key, enc: 'ssh-ed25519' }],
  ['pip_state.installed', 'flask', { bin_env: 'ROOT/venv' }],
  ['pip_state.installed', 'flask', { requirements: 'ROOT/app/list', bin_env: 'ROOT/venv' }],
  ['npm.installed', 'left-pad', { dir: 'ROOT/app', user }],
  ['gem.installed', 'rake', { user }],
  ['alternatives.set', 'tsalt-none', { path: 'ROOT/app/bin' }],
  ['logrotate.set', 'rotate', { key: 'rotate', value: 3, conf_file: 'ROOT/logrotate.conf' }],
];

describe.each(cases)('%s on a new machine', (fun, name, args) => {
  test(`predicts instead of failing: ${JSON.stringify(args)}`, async () => {
    const given = JSON.parse(JSON.stringify(args).replaceAll('ROOT', host.root));
    const told = await host.test(fun, name, given);
    expect(told, String(told.comment)).toMatchObject({ result: null });
    const made = ['app', 'venv', 'logrotate.conf'].filter(one => existsSync(join(host.root, one)));
    expect(made).toEqual([]);
  });
});

test('for real, what is not there is said', async () => {
  const fun = 'pip_state.installed';
  expect(await host.state(fun, 'flask', { bin_env: join(host.root, 'venv') })).toMatchObject({
    result: false,
    comment: expect.stringContaining('could not find a pip binary'),
  });
});
