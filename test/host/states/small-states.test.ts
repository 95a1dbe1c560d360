import { afterEach, beforeEach, expect, test } from 'vitest';
import { which } from '../../../src/modules/_shared/commands/which.ts';
import { nothing } from '../../helpers/nothing.ts';
import { makeHost, type TestHost } from '../../states/runner.ts';
import { runThreeTimes, type StateCase } from '../../states/three-runs.ts';

let host: TestHost;
beforeEach(() => {
  host = makeHost();
});
afterEach(() => host.remove());

const cases: StateCase[] = [
  {
    title: 'logrotate.set changes one setting',
    fun: 'logrotate.set',
    before: { conf: '# see man\nweekly\n  rotate 4\ncreate\n' },
    name: 'rotate less',
    args: [{ key: 'rotate', value: '2', conf_file: 'ROOT/conf' }],
    changes: { old: 4, new: 2 },
    comment: "Set command 'rotate' value: 2",
    after: { conf: '# see man\nweekly\nrotate 2\ncreate\n' },
  },
  {
    title: 'logrotate.set changes one setting of a block, and nothing else in it',
    fun: 'logrotate.set',
    before: {
      conf: '/var/log/wtmp /var/log/btmp {\n    # all of them\n    rotate 4\n    postrotate\n        rotate 4\n    endscript\n}\n',
    },
    name: 'rotate less',
    args: [{ key: '/var/log/btmp', value: 'rotate', setting: 2, conf_file: 'ROOT/conf' }],
    changes: { old: 4, new: 2 },
    after: {
      conf: '/var/log/wtmp /var/log/btmp {\n    # all of them\n    rotate 2\n    postrotate\n        rotate 4\n    endscript\n}\n',
    },
  },
  {
    title: 'logrotate.set adds a setting behind those it has to win against',
    fun: 'logrotate.set',
    before: { conf: '# main\nweekly\nrotate 4\n\ninclude ROOT/none\n/var/log/a {\n}\nmail x\n' },
    name: 'daily',
    args: [{ key: 'daily', value: true, conf_file: 'ROOT/conf' }],
    changes: { old: false, new: true },
    comment: "Set command 'daily' value: True",
    after: {
      conf: '# main\nweekly\nrotate 4\ndaily\n\ninclude ROOT/none\n/var/log/a {\n}\nmail x\n',
    },
  },
  {
    title: 'logrotate.set adds a setting without a value, and a block',
    fun: 'logrotate.set',
    before: { conf: 'weekly\n' },
    name: 'a new block',
    args: [{ key: '/var/log/new', value: 'missingok', setting: true, conf_file: 'ROOT/conf' }],
    changes: { old: false, new: true },
    after: { conf: 'weekly\n/var/log/new {\n    missingok\n}\n' },
  },
  {
    title: 'ini.options_present changes values and keeps comments',
    fun: 'ini.options_present',
    before: { f: '; head\ntop=1\n[main]\n# port\nport = 80\n\n[other]\nx = 1\n' },
    name: 'ROOT/f',
    args: [{ sections: { top: 2, main: { port: 81, host: 'a' }, fresh: { y: true } } }],
    changes: {
      top: { before: '1', after: '2' },
      main: { port: { before: '80', after: '81' }, host: { before: null, after: 'a' } },
      fresh: { before: null, after: { y: 'True' } },
    },
    after: {
      f: '; head\ntop = 2\n[main]\n# port\nport = 81\nhost = a\n\n[other]\nx = 1\n[fresh]\ny = True\n',
    },
  },
  {
    title: 'ini.options_present puts an option where a comment has it',
    fun: 'ini.options_present',
    before: { f: '[main]\n# port of the service\n#port = 80\n# port = 90\n;host = a\nlast = 1\n' },
    name: 'ROOT/f',
    args: [{ sections: { main: { port: 81, host: 'b' } } }],
    changes: {
      main: { port: { before: null, after: '81' }, host: { before: null, after: 'b' } },
    },
    after: {
      f: '[main]\n# port of the service\nport = 81\n# port = 90\n;host = a\nlast = 1\nhost = b\n',
    },
  },
  {
    title: 'ini.options_present with strict removes other options',
    fun: 'ini.options_present',
    before: { f: 'top = 1\n[main]\na = 1\nb = 2\n' },
    name: 'ROOT/f',
    args: [{ sections: { main: { a: 1 } }, strict: true }],
    changes: { main: { b: { before: '2', after: null } }, top: { before: '1', after: null } },
    after: { f: '[main]\na = 1\n' },
  },
  {
    title: 'ini.options_absent removes options',
    fun: 'ini.options_absent',
    before: { f: 'top=1\n[main]\na = 1\nb = 2\n' },
    name: 'ROOT/f',
    args: [{ sections: { main: ['a'], top: null } }],
    after: { f: '[main]\nb = 2\n' },
  },
  {
    title: 'ini.sections_present adds a section',
    fun: 'ini.sections_present',
    before: { f: '[a]\n' },
    name: 'ROOT/f',
    args: [{ sections: ['a', 'b'] }],
    after: { f: '[a]\n[b]\n' },
  },
  {
    title: 'ini.sections_present makes a section empty, whatever is said of it',
    fun: 'ini.sections_present',
    before: { f: '[a]\n' },
    name: 'ROOT/f',
    args: [{ sections: { b: { x: 1 } } }],
    changes: { b: { before: null, after: {} } },
    after: { f: '[a]\n[b]\n' },
  },
  {
    title: 'ini.sections_absent removes a section',
    fun: 'ini.sections_absent',
    before: { f: '[a]\nx=1\n[b]\n' },
    name: 'ROOT/f',
    args: [{ sections: ['a'] }],
    changes: { a: { x: '1' } },
    after: { f: '[b]\n' },
  },
  {
    title: 'file.cached keeps a copy',
    fun: 'file.cached',
    control: { 'pkg/a.bin': 'data' },
    name: 'salt://pkg/a.bin',
  },
  {
    title: 'mount.fstab_present adds an entry and keeps the others',
    fun: 'mount.fstab_present',
    before: { fstab: '# static\nUUID=1 / ext4 errors=remount-ro 0 1\n' },
    name: '/dev/sdb1',
    args: [
      '/mnt/my data',
      'ext4',
      { fs_mntops: ['noatime', 'nofail'], config: 'ROOT/fstab', mount: false },
    ],
    after: {
      fstab:
        '# static\nUUID=1 / ext4 errors=remount-ro 0 1\n/dev/sdb1\t\t/mnt/my\\040data\text4\tnoatime,nofail\t0 0\n',
    },
  },
  {
    title: 'mount.fstab_absent removes an entry',
    fun: 'mount.fstab_absent',
    before: { fstab: '/dev/a /a ext4 defaults 0 0\n/dev/b /b ext4 defaults 0 0\n' },
    name: '/dev/b',
    args: ['/b', { config: 'ROOT/fstab' }],
    after: { fstab: '/dev/a /a ext4 defaults 0 0\n' },
  },
  {
    title: 'mount.mounted with mount off only keeps the fstab',
    fun: 'mount.mounted',
    before: { fstab: '' },
    name: 'ROOT/mnt',
    args: ['/dev/sdz1', 'ext4', { mount: false, config: 'ROOT/fstab' }],
    changes: { persist: 'new' },
    comment: 'ROOT/mnt not present and not mounted. Added new entry to the fstab.',
  },
  {
    title: 'environ.setenv sets a variable for later commands',
    fun: 'environ.setenv',
    name: 'TSALT_TEST_VARIABLE',
    args: ['one'],
    changes: { TSALT_TEST_VARIABLE: 'one' },
  },
];

test.each(cases)('$title: test mode and a second run change nothing', async one => {
  delete process.env.TSALT_TEST_VARIABLE;
  await runThreeTimes(host, one);
});

test('cp.get_file writes a file of the control node, and says nothing is there by an empty text', async () => {
  host.control.set('d/a', 'x').set('d/e/b', 'y');
  expect(
    await host.call('cp.get_file', 'salt://d/a', `${host.root}/new/a`, { makedirs: true }),
  ).toBe(`${host.root}/new/a`);
  expect(await host.call('cp.get_file', 'salt://none', `${host.root}/b`)).toBe('');
  await host.call('cp.get_dir', 'salt://d', host.root);
  expect(host.file('d/e/b')).toBe('y');
});

test('cmd.script renders a template with its defaults and context before it runs', async () => {
  host.control.set('greet.sh', '#!/bin/sh\necho {{ word }} {{ other }} $1\n');
  const options = { source: 'salt://greet.sh', args: 'arg', template: 'jinja' };
  expect(
    await host.state('cmd.script', 'greet', {
      ...options,
      defaults: { word: 'default', other: 'there' },
      context: { word: 'hello' },
    }),
  ).toMatchObject({ result: true, changes: { stdout: 'hello there arg' } });
  expect(
    await host.state('cmd.script', 'none', { ...options, source: 'salt://none.sh' }),
  ).toMatchObject({
    result: false,
    comment: "Unable to cache script salt://none.sh from saltenv 'base'",
  });
});

test('environ.setenv refuses what is for Windows, in test mode too', async () => {
  for (const call of [host.test, host.state])
    expect(await call('environ.setenv', 'TSALT_NEVER', 'x', { permanent: true })).toMatchObject({
      result: false,
      comment: "'permanent' is not supported: it is for Windows only",
    });
  expect(process.env.TSALT_NEVER).toBeUndefined();
});

test('hashutil and random agree with known values', async () => {
  expect(await host.call('hashutil.digest', 'abc', 'md5')).toBe('900150983cd24fb0d6963f7d28e17f72');
  expect(await host.call('hashutil.base64_b64encode', 'get salted')).toBe('Z2V0IHNhbHRlZA==');
  expect(
    await host.call(
      'hashutil.hmac_signature',
      'get salted',
      'shared secret',
      'eBWf9bstXg+NiP5AOwppB5HMvZiYMPzEM9W5YMm/AmQ=',
    ),
  ).toBe(true);
  expect(await host.call('random.get_str', 12, { chars: 'ab' })).toMatch(/^[ab]{12}$/);
  expect(await host.call('random.seed', 60)).toBe(await host.call('random.seed', 60));
});

test('disk.usage knows the root file system', async () => {
  const usage = (await host.call('disk.usage')) as Record<string, { capacity: string }>;
  expect(usage['/']?.capacity).toMatch(/^\d+%$/);
});

test('timezone, locale, kmod and mount report what is already in place', async () => {
  const zone = String(await host.call('timezone.get_zone'));
  expect(await host.test('timezone.system', zone)).toMatchObject({ changes: nothing });
  expect(await host.test('timezone.system', 'No/Where')).toMatchObject({ result: false });
  expect(await host.state('locale.present', 'C')).toMatchObject({
    result: true,
    comment: 'Locale C is already present',
  });
  expect(await host.test('kmod.present', 'no_such_module')).toMatchObject({
    result: null,
    comment: 'Kernel module no_such_module is set to be loaded',
  });
  expect(await host.state('mount.unmounted', '/nowhere')).toMatchObject({
    result: true,
    comment: 'Target was already unmounted',
  });
  expect(await host.call('mount.is_mounted', '/proc')).toBe(true);
});

test.skipIf(!which('patch'))('file.patch applies a patch once', async () => {
  host.write('f', 'a\nb\n');
  host.control.set('p', '--- f\n+++ f\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n');
  const run = () => host.state('file.patch', `${host.root}/f`, { source: 'salt://p' });
  expect(await host.test('file.patch', `${host.root}/f`, { source: 'salt://p' })).toMatchObject({
    result: null,
  });
  expect(await run()).toMatchObject({ result: true, comment: 'Patch successfully applied' });
  expect(await run()).toMatchObject({
    result: true,
    changes: nothing,
    comment: 'Patch was already applied',
  });
  expect(host.file('f')).toBe('a\nc\n');
});

test('ini.options_present says in a test what it would do in the order of doing it', async () => {
  const file = host.write('f', 'top = 1\n[main]\na = 1\nb = 2\n');
  const options = { sections: { main: { a: 2, c: 3 }, other: 1 }, strict: true };
  expect(await host.test('ini.options_present', file, options)).toMatchObject({
    result: null,
    comment:
      'Changed key other.\nRemoved key top.\nDeleted key b in section main.\nChanged key a in section main.\nChanged key c in section main.\n',
  });
  expect(host.file('f')).toBe('top = 1\n[main]\na = 1\nb = 2\n');
});

test('personal archives are for Ubuntu: elsewhere they are refused', async () => {
  const on = (os: string, oscodename: string) => {
    host.remove();
    host = makeHost({ grains: { os, oscodename, os_family: 'Debian' } });
    return host.call('aptpkg.expand_repo_def', 'ppa:foo/bar', {});
  };
  expect(await on('Ubuntu', 'noble')).toMatchObject({
    line: 'deb https://ppa.launchpadcontent.net/foo/bar/ubuntu noble main',
  });
  await expect(on('Debian', 'bookworm')).rejects.toThrow('and this is Debian');
});

test('a source that has no line in apt is absent', async () => {
  const debian = host.with({ grains: { os: 'Debian', os_family: 'Debian' } });
  for (const name of ['epel', 'ppa:foo/bar'])
    expect(await debian.state('pkgrepo.absent', name)).toMatchObject({
      result: true,
      changes: nothing,
      comment: `Package repo ${name} is absent`,
    });
});
