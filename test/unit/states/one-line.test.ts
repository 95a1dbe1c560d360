import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { removeFolder } from '../../helpers/remove-folder.ts';
import { makeHost, type TestHost } from '../../states/runner.ts';

let host: TestHost;
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tsalt-one-line-'));
  host = makeHost({ opts: { 'hosts.file': join(folder, 'hosts') } });
});
afterEach(() => {
  host.remove();
  removeFolder(folder);
});

const evil = 'good\nevil = 1';

test.each<[string, string, () => unknown[], string]>([
  ['host.present', evil, () => ['10.0.0.1'], 'name'],
  ['sysctl.present', 'kernel.tsalt', () => [evil, { config: `${host.root}/conf` }], 'value'],
  ['ini.options_present', 'FILE', () => [{ sections: { [evil]: { a: 'b' } } }], 'sections'],
  [
    'ini.options_present',
    'FILE',
    () => [{ sections: { s: { [evil]: 'b' } } }],
    'a key of sections',
  ],
  ['ini.options_present', 'FILE', () => [{ sections: { s: { a: evil } } }], 'sections: a'],
  ['ini.options_present', 'FILE', () => [{ sections: { s: { a: 'x\0y' } } }], 'sections: a'],
  ['file.keyvalue', 'FILE', () => [{ key: 'a', value: evil, append_if_not_found: true }], 'value'],
  ['file.keyvalue', 'FILE', () => [{ key_values: { [evil]: 'x' } }], 'a key of key_values'],
  [
    'ssh_known_hosts.present',
    evil,
    () => [{ config: `${host.root}/FILE`, key: 'AAAA', enc: 'rsa' }],
    'name',
  ],
  [
    'ssh_known_hosts.present',
    'h',
    () => [{ config: `${host.root}/FILE`, key: evil, enc: 'rsa' }],
    'key',
  ],
  ['host.present', 'good', () => ['10.0.0.1', { comment: evil }], 'comment'],
  ['host.present', 'good', () => ['10.0.0.1\n10.0.0.2 bank'], 'ip'],
  ['host.present', 'good', () => [['10.0.0.1', '10.0.0.1\r10.0.0.2 bank']], 'ip'],
  ['host.only', '10.0.0.1\n10.0.0.2 bank', () => ['good'], 'name'],
  ['host.only', '10.0.0.1', () => [['good', evil]], 'hostnames'],
  ['sysctl.present', evil, () => ['1', { config: `${host.root}/FILE` }], 'name'],
  ['ini.options_present', 'FILE', () => [{ sections: { s: { a: 'b\rc' } } }], 'sections: a'],
  ['ini.options_present', 'FILE', () => [{ sections: { [evil]: 'b' } }], 'sections'],
  [
    'ini.options_present',
    'FILE',
    () => [{ sections: { s: { a: 'b' } }, separator: evil }],
    'separator',
  ],
  ['ini.sections_present', 'FILE', () => [{ sections: { [evil]: { a: 'b' } } }], 'sections'],
  ['ini.sections_present', 'FILE', () => [{ sections: [evil] }], 'sections'],
  ['file.keyvalue', 'FILE', () => [{ key: evil, value: 'x' }], 'key'],
  ['file.keyvalue', 'FILE', () => [{ key: 'a', value: 'c', separator: evil }], 'separator'],
  [
    'ssh_known_hosts.present',
    'h',
    () => [{ config: `${host.root}/FILE`, key: 'AAAA', enc: evil }],
    'enc',
  ],
])('%s refuses a newline, before anything is written: %j', async (fun, name, args, argument) => {
  const file = host.write('FILE', 'a = b\n');
  const ret = await host.state(fun, name === 'FILE' ? file : name, ...args());

  expect(ret.result).toBe(false);
  expect(String(ret.comment)).toContain(`The argument "${argument}" must be one line`);
  expect(host.file('FILE')).toBe('a = b\n');
  expect(existsSync(join(folder, 'hosts'))).toBe(false);
});
