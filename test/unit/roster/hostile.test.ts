import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { showError } from '../../../src/protocol/error.ts';
import { parseIniInventory } from '../../../src/roster/backends/inventory-ini.ts';
import { cpuTime } from '../../helpers/cpu-time.ts';
import { folder, load } from '../../roster/helper.ts';

const failure = async (backend: string, source: string): Promise<string> => {
  try {
    await load([{ backend, source }]);
  } catch (error) {
    return showError(error).replaceAll(source, 'ROSTER');
  }
  throw new Error('it was read');
};

test('a line of an inventory is read quickly, whatever it contains', () => {
  const start = cpuTime();
  const { hosts } = parseIniInventory(`a${'#'.repeat(100_000)} # a comment`, '/inventory');
  expect([...hosts.keys()]).toEqual([`a${'#'.repeat(100_000)}`]);
  expect(cpuTime() - start).toBeLessThan(5000);
});

test('groups that contain each other are refused and do not overflow the stack', async () => {
  const chain = Array.from({ length: 1500 }, (_, at) => `[g${at}:children]\ng${at + 1}\n`);
  for (const lines of [chain, chain.toReversed()]) {
    const dir = folder({ 'hosts.ini': `${lines.join('')}[g1500]\nh\n` });
    expect(await failure('ansible', join(dir, 'hosts.ini'))).toMatch(
      /^The group 'g\d+' of the inventory is nested in more than 500 others\.$/,
    );
  }
});

test('no error shows a password', async () => {
  for (const [name, text, shown] of [
    ['a.ini', 'web1 ansible_password=open hunter2\n', 'A field of the inventory is not key=value.'],
    [
      'b.ini',
      '[all:vars]\nansible_password: hunter2\n',
      'A line of the inventory is not key=value.',
    ],
    ['c.ini', "a ansible_password='hunter2{{'\n", "The template of 'ansible_password' cannot"],
    ['d.yaml', 'a:\n  host: x\n  passwd: hunter2\n  bad: [\n', '  passwd: …\n  bad: [    <==='],
    ['e.yaml', 'a:\n  passwd: [hunter2\n  "sudo_passwd": hunter2\n', '  passwd: …\n'],
    ['f.yaml', 'a: {host: x, passwd: hunter2]\n', 'a: {host: x, passwd: …    <====='],
    ['g.yaml', "a:\n  passwd: 'hunter2\n", '  passwd: …'],
  ] as const) {
    const dir = folder({ [name]: text });
    const backend = name.endsWith('.ini') ? 'ansible' : 'flat';
    const told = await failure(backend, join(dir, name));
    expect(told).not.toContain('hunter2');
    expect(told).toContain(shown);
  }
  const dir = folder({ script: '#!/bin/sh\necho hunter2\n' }, 0o755);
  expect(await failure('script', join(dir, 'script'))).toBe(
    "The roster ROSTER is not JSON: Unexpected token 'h'.",
  );
});

test('a program is not waited for longer than it runs, nor is all read that it left behind', async () => {
  const dir = folder(
    {
      background:
        '#!/bin/sh\nsleep 60 &\necho $! >"$0.pid"\necho \'{"a": {"host": "10.0.0.1"}}\'\n',
      endless: '#!/bin/sh\nyes 0123456789012345678901234567890123456789 | cat\n',
    },
    0o755,
  );
  const start = performance.now();
  const { hosts } = await load([{ backend: 'script', source: join(dir, 'background') }]);
  process.kill(Number(readFileSync(join(dir, 'background.pid'), 'utf8')));
  expect(hosts.map(({ host }) => host.host)).toEqual(['10.0.0.1']);
  expect(await failure('script', join(dir, 'endless'))).toBe(
    'The roster ROSTER returned no hosts: it printed more than 64 MiB.',
  );
  expect(performance.now() - start).toBeLessThan(30_000);
}, 60_000);

test('20,000 hosts of an ssh configuration are read in seconds', {
  tags: 'slow',
  timeout: 60_000,
}, async () => {
  const hosts = Array.from(
    { length: 20_000 },
    (_, at) => `Host h${at}\n  HostName 10.0.0.${at % 256}\n`,
  );
  const dir = folder({
    config: `${hosts.join('')}Host h1* !h11\n  User some\nHost *\n  Port 2222\n`,
  });
  const start = cpuTime();
  const { hosts: found } = await load([{ backend: 'sshconfig', source: join(dir, 'config') }]);
  expect(cpuTime() - start).toBeLessThan(20_000);
  expect(found).toHaveLength(20_000);
  const users = ['h2', 'h10', 'h11'].map(id => found.find(({ host }) => host.id === id)?.host);
  expect(users[1]).toMatchObject({ user: 'some', port: 2222, host: '10.0.0.10' });
  expect(users[0]?.user).not.toBe('some');
  expect(users[2]?.user).not.toBe('some');
});
