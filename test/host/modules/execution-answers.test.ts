import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { which } from '../../../src/modules/_shared/commands/which.ts';
import { makeHost } from '../../states/runner.ts';

// The results of Salt 3006.9 for the same calls.
const host = makeHost();
const path = process.env.PATH;
const bin = join(host.root, 'bin');
const log = join(host.root, 'log');

beforeAll(() => {
  mkdirSync(bin);
  process.env.PATH = `${bin}:${path}`;
});
afterAll(() => {
  process.env.PATH = path;
  host.remove();
});

/** A program that notes its arguments and prints a text. */
const program = (name: string, text: string): void => {
  writeFileSync(
    join(bin, name),
    `#!/bin/sh\necho "${name} $*" >> ${log}\ncat <<'END'\n${text}END\n`,
  );
  chmodSync(join(bin, name), 0o755);
};

test.each(['bad', '', '10.0.0.0/33', '127.0.0.1/8', '10.0.0.0/8/8', '1.2.3.4 '])(
  '%j is no network: nothing is in it, and that is no error',
  async cidr => {
    expect(await host.call('network.in_subnet', cidr)).toBe(false);
    expect(await host.call('network.ip_in_subnet', '127.0.0.1', cidr)).toBe(false);
    if (cidr !== '') expect(await host.call('network.ip_addrs', { cidr })).toEqual([]);
  },
);

test('a port that cannot be connected to is returned, not thrown', async () => {
  const told = async (...args: unknown[]): Promise<unknown> =>
    host.call('network.connect', ...args);
  const missing = (what: string) => ({
    result: false,
    comment: `Required argument, ${what}, is missing.`,
  });
  expect(await told('', 80)).toEqual(missing('host'));
  expect(await told('127.0.0.1')).toEqual(missing('port'));
  expect(await told('127.0.0.1', 70_000)).toMatchObject({ result: false });
  expect(await told('127.0.0.1', 1, { family: 'ipv6' })).toEqual({
    result: false,
    comment: 'Unable to resolve host 127.0.0.1 on tcp port 1',
  });
  expect(await told('127.0.0.1', 'no-such-service')).toEqual({
    result: false,
    comment: 'Unable to resolve host 127.0.0.1 on tcp port no-such-service',
  });
});

test('variables keep numbers as they are written, and names that cannot be are false', async () => {
  expect(await host.call('environ.setval', 'TSALT_X', 1)).toBe('1');
  expect(await host.call('environ.get', 'TSALT_X')).toBe('1');
  expect(await host.call('environ.setval', 'A=B', 'x')).toBe(false);
  expect(await host.call('environ.setval', '', 'x')).toBe(false);
  expect(await host.call('environ.get', 'TSALT_NONE', { default: 7 })).toBe(7);
  expect(await host.call('environ.get', 'TSALT_NONE', { default: null })).toBeNull();
  expect(await host.call('environ.setval', 'TSALT_X', false, true)).toBeNull();
});

test('hashes go by the names that Python has for them', async () => {
  expect(await host.call('random.hash', 'a', 'sha3_256')).toBe(
    '80084bf2fba02475726feb2cab2d8215eab14bc6bdd8bfb2c8151257032ecd8b',
  );
  expect(await host.call('random.hash', 'a', 'blake2b')).toMatch(/^333fcb4ee1aa7c115355ec66ceac91/);
  await expect(host.call('random.get_str', 'x')).rejects.toThrow('length must be a whole number');
  for (const salt of ['bad salt', 'a:b', 'a!', 'ä'])
    await expect(host.call('random.shadow_hash', salt, 'pw')).rejects.toThrow('The salt');
});

test('a file that the file server does not have has no hash and no mode', async () => {
  host.control.set('served', 'x');
  expect(await host.call('cp.hash_file', 'salt://none')).toBe('');
  expect(await host.call('cp.hash_file', 'salt://served')).toMatchObject({ hash_type: 'sha256' });
  for (const path of ['/etc/hostname', 'served', '', 'salt://'])
    expect(await host.call('cp.stat_file', path)).toBeNull();
});

test('at.atrm all with a tag removes the jobs with that tag and no others', async () => {
  program('atq', '7\tFri Jan  2 03:04:00 2032 a root\n8\tFri Jan  2 03:04:00 2032 a root\n');
  program('atrm', '');
  writeFileSync(
    join(bin, 'at'),
    '#!/bin/sh\n[ "$1 $2" = "-c 7" ] && echo "### SALT: nightly"\n[ "$1 $2" = "-c 8" ] && echo "### SALT: 7"\nexit 0\n',
  );
  chmodSync(join(bin, 'at'), 0o755);
  const { jobs } = (await host.call('at.atq')) as { jobs: { job: string; tag: string }[] };
  expect(jobs.map(({ job, tag }) => [job, tag])).toEqual([
    ['7', 'nightly'],
    ['8', '7'],
  ]);
  const removed = async (...args: unknown[]): Promise<unknown> => {
    writeFileSync(log, '');
    const { jobs } = (await host.call('at.atrm', ...args)) as { jobs: unknown };
    const ran = readFileSync(log, 'utf8').split('\n');
    return [jobs, ran.filter(line => line.startsWith('atrm'))];
  };
  expect(await removed('all', 'nightly')).toEqual([{ removed: ['7'], tag: 'nightly' }, ['atrm 7']]);
  expect(await removed('7')).toEqual([{ removed: ['7'], tag: null }, ['atrm 7']]);
  expect(await removed('nightly')).toEqual([{ removed: ['7'], tag: null }, ['atrm 7']]);
  expect(await removed('all')).toEqual([{ removed: ['7', '8'], tag: null }, ['atrm 7', 'atrm 8']]);
  expect(await removed()).toEqual([{ removed: [], tag: null }, []]);
});

test('test.* return empty values, and report functions that moved elsewhere', async () => {
  for (const empty of [[], {}, '', 0, null, false])
    await expect(host.call('test.assertion', empty)).rejects.toThrow('does not hold');
  expect(await host.call('test.assertion', [0])).toBeNull();
  expect(await host.call('test.random_hash', 0, 'md5')).toBe('cfcd208495d565ef66e7dff9f98764da');
  await expect(host.call('test.tty', 'tty0', 'x')).rejects.toThrow('it is cmd.tty that writes');
});

test.runIf(existsSync('/proc/self/io'))('ps.proc_info tells what psutil tells', async () => {
  const told = (await host.call('ps.proc_info', process.pid)) as Record<string, never>;
  expect(told).toMatchObject({
    pid: process.pid,
    username: userInfo().username,
    io_counters: { read_count: expect.any(Number), write_chars: expect.any(Number) },
  });
  expect(told.cpu_affinity).toContain(told.cpu_num);
  expect(told.threads).toContainEqual(expect.objectContaining({ id: process.pid }));
  expect(await host.call('ps.boot_time', '')).toEqual(expect.any(Number));
});

test.runIf(which('stat') && existsSync('/proc/self/mounts'))(
  'ps.disk_partitions tells how long names may be',
  async () => {
    const all = (await host.call('ps.disk_partitions', true)) as Record<string, unknown>[];
    expect(all.find(({ mountpoint }) => mountpoint === '/proc')).toMatchObject({
      maxfile: 255,
      maxpath: 4096,
    });
  },
);

test('a swap space that is not used cannot be given up', async () => {
  expect(await host.call('mount.swapoff', '/no/such/swap')).toBeNull();
});
