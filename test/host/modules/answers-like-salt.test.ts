import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { which } from '../../../src/modules/_shared/commands/which.ts';
import { changedJob } from '../../../src/modules/cron/cron-job.ts';
import { parseCrontab } from '../../../src/modules/cron/crontab.ts';
import { nothing } from '../../helpers/nothing.ts';
import { makeHost } from '../../states/runner.ts';

const host = makeHost();
afterAll(() => host.remove());
const at = (path: string): string => join(host.root, path);

const keyText = 'AAAAC3NzaC1lZDI1NTE5AAAAIH2xLTm4bTsbxpt2ZvBs4ZCf4cTVb6VgmHxCpnOvmXwv';
const me = userInfo().username;

test('ssh.auth_keys knows no user that is not there, and lists of users', async () => {
  const config = host.write('keys', `ssh-ed25519 ${keyText} a@b\n`);
  expect(await host.call('ssh.auth_keys', 'no-such-user', { config })).toEqual({});
  const one = await host.call('ssh.auth_keys', me, { config });
  expect(one).toMatchObject({ [keyText]: { enc: 'ssh-ed25519', comment: 'a@b', options: [] } });
  expect(await host.call('ssh.auth_keys', [me, 'no-such-user'], { config })).toEqual({ [me]: one });
  expect(Object.keys((await host.call('ssh.auth_keys', null, { config })) as object)).toContain(me);
});

test('ssh says that a key is invalid, or not present, as Salt does', async () => {
  const config = at('none');
  expect(await host.call('ssh.set_auth_key', me, 'bad!key', { config })).toBe('Invalid public key');
  expect(await host.call('ssh.rm_auth_key', me, keyText, { config })).toBe('Key not present');
  expect(await host.call('ssh.rm_auth_key', 'no-such-user', keyText)).toBe('Key not present');
  expect(await host.call('ssh.rm_known_host', me, 'h.example', { config })).toEqual({
    status: 'error',
    error: `Known hosts file ${config} does not exist`,
  });
});

test('ssh.key_is_encrypted refuses a file that is not a private key', async () => {
  const path = host.write('text', 'no key\n');
  await expect(host.call('ssh.key_is_encrypted', path)).rejects.toThrow(
    `${path} is not a private key`,
  );
});

test('special times of a crontab come without the five', () => {
  const header = '# Lines below here are managed by Salt, do not edit';
  expect(parseCrontab(`${header}\n@daily run\n`).special).toEqual([
    { spec: '@daily', cmd: 'run', identifier: null, comment: null, commented: false },
  ]);
});

test('a job with a special time stays as it is when it is so, and may get times', () => {
  const [known] = parseCrontab(
    '# Lines below here are managed by Salt, do not edit\n@daily run\n',
  ).special;
  expect(changedJob(known, { cmd: 'run', when: { spec: '@daily' } })).toBeUndefined();
  const times = { minute: 5, hour: '*', daymonth: '*', month: '*', dayweek: 'random' };
  expect(changedJob(known, { cmd: 'run', when: times }, () => '3')).toEqual({
    minute: '5',
    hour: '*',
    daymonth: '*',
    month: '*',
    dayweek: '3',
    cmd: 'run',
    identifier: null,
    comment: null,
    commented: false,
  });
});

test.runIf(which('crontab'))('a user that does not exist has no crontab', async () => {
  expect(await host.call('cron.raw_cron', 'no-such-user')).toBe('');
  expect(await host.state('cron.absent', 'job', { user: 'no-such-user' })).toMatchObject({
    result: true,
    comment: 'Cron job already absent',
  });
  const path = host.write('crontab', '1 2 3 4 5 job\n');
  expect(await host.state('cron.file', path, { user: 'no-such-user' })).toMatchObject({
    result: false,
    comment: 'Could not identify group for user no-such-user',
  });
});

test.runIf(which('crontab') && process.getuid?.() === 0)(
  'a crontab that crontab refuses is told with its reason',
  async () => {
    const path = host.write('crontab', 'nonsense\n');
    const told = await host.state('cron.file', path, { user: 'daemon' });
    expect(told).toMatchObject({ result: false, changes: nothing });
    expect(told.comment).toContain(
      `Unable to update user daemon crontab ${path}. Error: "${path}":1:`,
    );
  },
);

test('archive.list marks directories with a slash, and lists the top level', async () => {
  mkdirSync(at('ar/s'), { recursive: true });
  writeFileSync(at('ar/s/f'), 'x');
  writeFileSync(at('ar/top'), 'x');
  execFileSync('ln', ['-s', 'top', at('ar/l')]);
  execFileSync('tar', ['-C', at('ar'), '-czf', at('a.tgz'), 's', 'top', 'l']);
  execFileSync('tar', ['-C', at('ar'), '-czf', at('b.tgz'), 's/f']);
  expect(await host.call('archive.list', at('a.tgz'), { verbose: true })).toEqual({
    dirs: ['s/'],
    files: ['s/f', 'top'],
    links: ['l'],
    top_level_dirs: ['s/'],
    top_level_files: ['top'],
    top_level_links: ['l'],
  });
  expect(await host.call('archive.list', at('b.tgz'))).toEqual(['s/f']);
  execFileSync('zip', ['-q', '-D', '-r', at('c.zip'), 's'], { cwd: at('ar') });
  expect(await host.call('archive.list', at('c.zip'))).toEqual(['s/', 's/f']);
});

test('git.tag takes tags away, and messages only by name; no branch is current where no repository is', async () => {
  const repo = at('repo');
  const git = (...args: string[]): string =>
    execFileSync('git', ['-C', repo, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args], {
      encoding: 'utf8',
    }).trim();
  execFileSync('git', ['init', '-q', repo]);
  git('commit', '-q', '--allow-empty', '-m', 'one');
  git('tag', 't1');
  expect(await host.call('git.tag', repo, 't1', { opts: '-d' })).toContain("Deleted tag 't1'");
  expect(git('tag')).toBe('');
  await expect(host.call('git.tag', repo, 't2', { opts: '-m x' })).rejects.toThrow(
    'Tag messages must be passed in the "message" argument',
  );
  git('checkout', '-q', '--detach');
  expect(await host.call('git.current_branch', repo)).toBe('HEAD');
  rmSync(join(repo, '.git'), { recursive: true });
  await expect(host.call('git.current_branch', repo)).rejects.toThrow('not a git repository');
});

test('temp makes files and folders for this account alone, in the requested place', async () => {
  mkdirSync(at('temp'));
  const options = ['.x', 'my-', at('temp')];
  for (const [fun, mode] of [
    ['temp.dir', 0o40700],
    ['temp.file', 0o100600],
  ] as const) {
    const path = (await host.call(fun, ...options)) as string;
    expect(path).toMatch(/\/temp\/my-[0-9a-f]{16}\.x$/);
    expect(statSync(path).mode).toBe(mode);
  }
  await expect(host.call('temp.dir', '/../x')).rejects.toThrow('without slashes');
  await expect(host.call('temp.file', '', 'tmp', at('nowhere'))).rejects.toThrow('cannot be made');
});

test('cp.stat_file returns the mode as octal digits, or st_mode', async () => {
  host.control.set('served', 'x');
  expect(await host.call('cp.stat_file', 'salt://served')).toBe('0755');
  expect(await host.call('cp.stat_file', 'salt://served', { octal: false })).toBe(0o100755);
  expect(await host.call('cp.stat_file', 'salt://nothing')).toBeNull();
});

test('data that a formula sends to the mine is accepted with any further arguments', async () => {
  expect(await host.call('mine.send', 'network.ip_addrs', 'eth0', { cidr: '10.0.0.0/8' })).toBe(
    true,
  );
  expect(await host.call('mine.update', true, { mine_functions: {} })).toBe(true);
});
