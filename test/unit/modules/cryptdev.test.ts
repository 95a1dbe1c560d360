import { mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { nothing } from '../../helpers/nothing.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';
import { notedPrograms } from '../../modules/_programs.ts';
import { makeHost, type TestHost } from '../../states/runner.ts';

let host: TestHost;
let folder = '';
let config = '';
const programs = notedPrograms();
beforeEach(() => {
  host = makeHost();
  folder = mkdtempSync(join(tmpdir(), 'tsalt-crypt-'));
  config = join(folder, 'crypttab');
  writeFileSync(config, '# c\none /dev/x none luks\nbad line\none /dev/y /k a,b', { mode: 0o600 });
});
afterEach(() => {
  host.remove();
  removeFolder(folder);
});

const line = (name: string, device: string, password: string, options: string): string =>
  `${name.padEnd(12)} ${device.padEnd(44)} ${password.padEnd(22)} ${options}\n`;

test('entries come, change and go, and other lines stay', async () => {
  const one = { device: '/dev/x', password: 'none', options: ['luks'] };
  const second = { device: '/dev/y', password: '/k', options: ['a', 'b'] };
  expect(await host.call('cryptdev.crypttab', config)).toEqual({ one, one_: second });
  const set = (...words: unknown[]) =>
    host.call(
      'cryptdev.set_crypttab',
      words[0],
      words[1],
      words[2],
      words[3],
      config,
      ...words.slice(4),
    );
  expect(await set('new', '/dev/a', null, null, true)).toBe('new');
  expect(readFileSync(config, 'utf8')).not.toContain('new');
  expect(await set('new', '/dev/a', null, null)).toBe('new');
  expect(await set('new', '/dev/a', 'none', '')).toBe('present');
  expect(await set('new', '/dev/a', '/key', ['swap', 'size=256'])).toBe('change');
  expect(await set('other', '/dev/a', '/key', 'x', false, ['device'])).toBe('change');
  expect(readFileSync(config, 'utf8')).toBe(
    `# c\none /dev/x none luks\nbad line\none /dev/y /k a,b\n${line('other', '/dev/a', '/key', 'x')}`,
  );
  expect(statSync(config).mode & 0o777).toBe(0o600);
  expect(await host.call('cryptdev.rm_crypttab', 'one', config)).toBe('change');
  expect(await host.call('cryptdev.rm_crypttab', 'one', config)).toBe('absent');
  expect(readFileSync(config, 'utf8')).toBe(
    `# c\nbad line\n${line('other', '/dev/a', '/key', 'x')}`,
  );
  await expect(set('a', '/dev/a', null, null, false, 'odd')).rejects.toThrow(
    'Unrecognized keys in match_on: "odd"',
  );
  await expect(set('a b', '/dev/a', null, null)).rejects.toThrow("The name 'a b' cannot stand in");
  await expect(
    host.call('cryptdev.set_crypttab', 'a', '/dev/a', null, null, `${config}x`),
  ).rejects.toThrow(`Bad config file "${config}x"`);
});

test('a device is listed and opened once, and closed once', async () => {
  const open = `${programs.folder()}/open`;
  // The kernel of most test machines opens no encrypted devices.
  programs.program('dmsetup', `cat ${open} 2>/dev/null || echo 'No devices found'`);
  programs.program(
    'cryptsetup',
    `case "$*" in *bad*) exit 2;; open*) printf 'data\\t(253:0)\\nold\\t(253, 1)\\n' >${open};; close*) rm ${open};; esac`,
  );
  expect(await host.call('cryptdev.active')).toEqual({});
  const options = { device: '/dev/b', keyfile: '/k', opts: ['luks'], config, immediate: true };
  const before = readFileSync(config, 'utf8');
  expect(await host.test('cryptdev.mapped', 'data', options)).toEqual({
    name: 'data',
    result: null,
    changes: {
      cryptsetup: 'Device would be mapped using cryptsetup',
      crypttab: `Entry added in ${config}`,
    },
    comment: 'Device would be mapped immediately',
  });
  expect(readFileSync(config, 'utf8')).toBe(before);
  expect(await host.state('cryptdev.mapped', 'data', options)).toEqual({
    name: 'data',
    result: true,
    changes: { cryptsetup: 'Device mapped using cryptsetup', crypttab: `Entry added in ${config}` },
    comment: '',
  });
  expect(await host.call('cryptdev.active')).toEqual({
    data: { devname: 'data', major: '253', minor: '0' },
    old: { devname: 'old', major: '253', minor: '1' },
  });
  expect(await host.state('cryptdev.mapped', 'data', options)).toMatchObject({
    result: true,
    changes: nothing,
  });
  expect(await host.state('cryptdev.mapped', 'data', { ...options, opts: 'x' })).toMatchObject({
    changes: { crypttab: `Existing entry in ${config} changed` },
  });
  const failing = { device: '/dev/b', keyfile: '/bad', persist: false, immediate: true };
  expect(await host.state('cryptdev.mapped', 'bad', failing)).toMatchObject({
    result: false,
    changes: { cryptsetup: 'Device failed to map using cryptsetup' },
  });
  expect(await host.state('cryptdev.mapped', 'n', { ...failing, keyfile: null })).toMatchObject({
    result: false,
    changes: { cryptsetup: 'Device cannot be mapped immediately without a keyfile' },
  });
  expect(await host.state('cryptdev.mapped', 'n', { device: 'x', persist: false })).toMatchObject({
    result: false,
  });
  const away = { config, immediate: true };
  expect(await host.test('cryptdev.unmapped', 'data', away)).toMatchObject({ result: null });
  expect(await host.state('cryptdev.unmapped', 'data', away)).toMatchObject({
    result: true,
    changes: {
      cryptsetup: 'Device unmapped using cryptsetup',
      crypttab: `Entry removed from ${config}`,
    },
  });
  expect(await host.state('cryptdev.unmapped', 'data', away)).toMatchObject({ changes: nothing });
  await expect(host.call('cryptdev.open', 'a', '/dev/b', 'none')).rejects.toThrow(
    'keyfile must not be none',
  );
  expect(programs.log()).toContain('cryptsetup open --key-file /k -- /dev/b data');
});
