import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { which } from '../../../src/modules/_shared/commands/which.ts';
import * as at from '../../../src/modules/cron/exec/at.ts';
import * as cron from '../../../src/modules/cron/exec/cron.ts';
import * as cronState from '../../../src/modules/cron/states/cron/present.ts';
import * as environ from '../../../src/modules/environ/exec/environ.ts';
import * as kmod from '../../../src/modules/kernel/exec/kmod.ts';
import * as timezone from '../../../src/modules/locale/exec/timezone.ts';
import * as hosts from '../../../src/modules/network/exec/hosts.ts';
import * as debconf from '../../../src/modules/pkg/exec/debconfmod.ts';
import * as files from '../../../src/modules/ssh/exec/ssh/files.ts';
import * as keys from '../../../src/modules/ssh/exec/ssh/keys.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';
import { contextOf, within } from '../../modules/_context.ts';
import { program, script } from '../../modules/_programs.ts';

const folder = mkdtempSync(join(tmpdir(), 'tsalt-small-'));
const path = process.env.PATH;
const run = <T>(work: () => Promise<T>): Promise<T> =>
  within(contextOf({}, { opts: { 'hosts.file': join(folder, 'hosts') } }), work);

beforeAll(() => {
  mkdirSync(join(folder, 'bin'));
  process.env.PATH = `${join(folder, 'bin')}:${path}`;
});
afterAll(() => {
  process.env.PATH = path;
  removeFolder(folder);
});

test('environ: a default for what is not set', async () => {
  expect(await run(() => environ.get('TSALT_NONE', { default: 'x' }))).toBe('x');
  expect(await run(() => environ.item(['TSALT_NONE'], { default: 'y' }))).toEqual({
    TSALT_NONE: 'y',
  });
  await expect(run(() => environ.setval('A', 'b', false, true))).rejects.toThrow('permanent');
});

test('kmod: the modules that are loaded are those of /proc/modules, none where the kernel has none', async () => {
  const list = '/proc/modules';
  const text = existsSync(list) ? readFileSync(list, 'utf8') : '';
  const told = await run(() => kmod.lsmod());
  expect(told.map(({ module }) => module)).toEqual(text.match(/^\S+/gm) ?? []);
});

test('timezone: the offset is that of date', async () => {
  const zone = await run(() => timezone.get_zone());
  expect(await run(() => timezone.get_offset())).toBe(
    execFileSync('date', ['+%z'], { env: { ...process.env, TZ: zone }, encoding: 'utf8' }).trim(),
  );
});

test('hosts: a comment is set, kept, and one line', async () => {
  writeFileSync(join(folder, 'hosts'), '10.0.0.1\tdb1\t# old\n');
  await run(() => hosts.set_host('10.0.0.1', 'db1 db', 'new'));
  await run(() => hosts.set_host('10.0.0.1', 'db1'));
  await run(() => hosts.set_host('10.0.0.2', 'web', 'the web'));
  expect(readFileSync(join(folder, 'hosts'), 'utf8')).toBe(
    '10.0.0.1\t\tdb1\t\t# new\n10.0.0.2\t\tweb\t\t# the web\n',
  );
  await expect(run(() => hosts.set_host('10.0.0.1', 'x', 'a\nb'))).rejects.toThrow('one line');
});

test('cron: a job by its identifier, and one of two by its time', async () => {
  const tab = join(folder, 'tab');
  writeFileSync(
    tab,
    [
      '# Lines below here are managed by Salt, do not edit',
      '# SALT_CRON_IDENTIFIER:nightly',
      '5 3 * * * backup',
      '7 4 * * * backup',
      '@daily report',
      '',
    ].join('\n'),
  );
  script(
    folder,
    'crontab',
    `case "$*" in *-l) cat '${tab}';; *) cat > '${tab}.new'; mv '${tab}.new' '${tab}';; esac`,
  );
  expect(await run(() => cron.get_entry('root', 'nightly'))).toMatchObject({ minute: '5' });
  expect(await run(() => cron.get_entry('root', null, 'report'))).toMatchObject({ spec: '@daily' });
  expect(await run(() => cron.get_entry('root', 'none'))).toBe(false);
  expect(await run(() => cron.rm('root', 'backup', { minute: 9 }))).toBe('absent');
  expect(await run(() => cron.rm('root', 'backup', { minute: 7, hour: 4 }))).toBe('removed');
  expect((await run(() => cron.ls('root'))).crons.map(({ minute }) => minute)).toEqual(['5']);
});

test('cron.present predicts what it does: a comment of several lines, a time in capitals', async () => {
  const tab = join(folder, 'tab');
  writeFileSync(tab, '');
  const call = (test: boolean, more: Parameters<typeof cronState.present>[1] = {}) =>
    within(contextOf({ cron }, { opts: { test } }), () =>
      cronState.present('sync', {
        comment: 'all of it\nat once\n',
        dayweek: 'MON',
        minute: 'random',
        identifier: '',
        ...more,
      }),
    );
  expect(await call(true)).toMatchObject({ result: null, comment: 'Cron sync is set to be added' });
  expect(await call(false)).toMatchObject({ result: true, changes: { root: 'sync' } });
  for (const test of [true, false])
    expect(await call(test)).toEqual({
      name: 'sync',
      result: true,
      changes: {},
      comment: 'Cron sync already present',
    });
  expect(await call(true, { minute: 61 })).toMatchObject({ result: null });
});

test('at: jobs that fit, and the script of one', async () => {
  program(folder, 'atq', '7\tSat Nov 21 23:05:00 2026 a ann\n8\tSun Nov 22 01:00:00 2026 a bob\n');
  script(folder, 'at', '[ "$2" = 7 ] && printf "#!/bin/sh\\n### SALT: backup\\nrun\\n"');
  expect(await run(() => at.jobcheck({ hour: 23, day: 21, tag: 'backup' }))).toMatchObject({
    jobs: [{ job: '7', user: 'ann' }],
  });
  expect(await run(() => at.jobcheck({ year: 26, runas: 'bob' }))).toMatchObject({
    jobs: [{ job: '8' }],
  });
  expect(await run(() => at.jobcheck({ month: 1 }))).toMatchObject({ jobs: [] });
  expect(await run(() => at.jobcheck())).toEqual({ error: 'You have given a condition' });
  expect(await run(() => at.atc(7))).toContain('### SALT: backup');
  expect(await run(() => at.atc('-x'))).toEqual({ error: "invalid job id '-x'" });
});

test('debconf: answers by package', async () => {
  program(
    folder,
    'debconf-get-selections',
    '# Country code\npostfix\tpostfix/mailname\tstring\texample.com\npostfix\tpostfix/root\tstring\t\ntzdata\ttzdata/Areas\tselect\tEurope\n',
  );
  expect(await run(() => debconf.show('postfix'))).toEqual([
    ['postfix/mailname', 'string', 'example.com'],
    ['postfix/root', 'string', ''],
  ]);
  expect(await run(() => debconf.get_selections(false))).toEqual({
    postfix: [['postfix/mailname', 'string', 'example.com']],
    tzdata: [['tzdata/Areas', 'select', 'Europe']],
  });
});

test.skipIf(!which('ssh-keygen'))(
  'ssh: keys, and which are encrypted (needs ssh-keygen)',
  async () => {
    const make = (name: string, ...more: string[]): string => {
      const file = join(folder, name);
      execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-C', 'c', '-f', file, ...more]);
      return file;
    };
    const open = make('ssh_host_ed25519_key', '-N', '');
    const locked = make('locked', '-N', 'pass-phrase', '-a', '1');
    expect(await run(() => files.key_is_encrypted(open))).toBe(false);
    expect(await run(() => files.key_is_encrypted(locked))).toBe(true);
    await expect(run(() => files.key_is_encrypted(join(folder, 'none')))).rejects.toThrow(
      'cannot be read',
    );
    const pub = readFileSync(`${open}.pub`, 'utf8').trim();
    expect(await run(() => files.host_keys(folder))).toEqual({ 'ed25519.pub': pub });
    expect(Object.keys(await run(() => files.host_keys(folder, { private: true })))).toEqual([
      'ed25519',
      'ed25519.pub',
    ]);
    const user = userInfo().username;
    expect(await run(() => files.user_keys(user, { pubfile: `${open}.pub` }))).toEqual({
      [user]: { 'ssh_host_ed25519_key.pub': pub },
    });
    const known = join(folder, 'known_hosts');
    writeFileSync(known, `host.example.com ${pub}\n`, { mode: 0o640 });
    expect(await run(() => files.hash_known_hosts(null, known))).toMatchObject({
      status: 'updated',
    });
    expect(readFileSync(known, 'utf8')).not.toContain('host.example.com');
    await expect(run(() => files.hash_known_hosts(null, 'known_hosts'))).rejects.toThrow(
      'absolute',
    );
  },
);

test('ssh: the keys of a file are checked, set and taken away', async () => {
  const user = userInfo().username;
  const config = join(folder, 'authorized_keys');
  const source = join(folder, 'two.pub');
  writeFileSync(source, 'ssh-ed25519 AAAAC3NzaC1l one\nssh-rsa AAAAB3NzaC1y two\n');
  expect(await run(() => keys.check_key_file(user, source, { config }))).toEqual({
    AAAAC3NzaC1l: 'add',
    AAAAB3NzaC1y: 'add',
  });
  expect(await run(() => keys.set_auth_key_from_file(user, source, { config }))).toBe('new');
  expect(await run(() => keys.set_auth_key_from_file(user, source, { config }))).toBe('no change');
  expect(statSync(config).mode & 0o777).toBe(0o600);
  expect(await run(() => keys.rm_auth_key_from_file(user, source, { config }))).toBe('Key removed');
  expect(await run(() => keys.rm_auth_key_from_file(user, source, { config }))).toBe(
    'Key not present',
  );
});
