import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import {
  gidOf,
  groupName,
  homeOf,
  nameExists,
  primaryGid,
  uidOf,
  userName,
} from '../../../src/modules/_shared/files/owner-names.ts';

const entries = (kind: 'passwd' | 'group'): string[][] =>
  execFileSync('getent', [kind], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map(line => line.split(':'));

test('owner names: every account of this machine is found by name and by id', () => {
  for (const [name = '', , id, gid, , home] of entries('passwd')) {
    expect(uidOf(name)).toBe(Number(id));
    expect(primaryGid(name)).toBe(Number(gid));
    expect(homeOf(name)).toBe(home);
    expect(uidOf(String(userName(Number(id))))).toBe(Number(id));
  }
  for (const [name = '', , id] of entries('group')) {
    expect(gidOf(name)).toBe(Number(id));
    expect(gidOf(String(groupName(Number(id))))).toBe(Number(id));
  }
});

test.each(['roo', 'oot', 'root:x', 'root:x:0', 'root\n', '\nroot', '', '#root', 'no such account'])(
  'owner names: nobody is called %j',
  name => {
    expect(uidOf(name)).toBe(undefined);
    expect(nameExists('group', name)).toBe(false);
  },
);

test('owner names: an id that nobody has stays a number', () => {
  expect(userName(3_999_999_999)).toBe(3_999_999_999);
  expect(uidOf(3_999_999_999)).toBe(3_999_999_999);
});
