import { BlockList } from 'node:net';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import * as network from '../../src/modules/exec/network.ts';
import * as ps from '../../src/modules/exec/ps.ts';
import * as status from '../../src/modules/exec/status.ts';
import {
  formatAddress,
  inNetwork,
  networkOf,
  parseAddress,
} from '../../src/modules/lib/ip-address.ts';
import { contextOf, within } from './_context.ts';

const run = <T>(work: () => Promise<T>): Promise<T> => within(contextOf({}), work);

test('networks contain what Node says they contain', () => {
  fc.assert(
    fc.property(fc.ipV4(), fc.ipV4(), fc.integer({ min: 0, max: 32 }), (address, start, prefix) => {
      const oracle = new BlockList();
      oracle.addSubnet(start, prefix, 'ipv4');
      expect(inNetwork(address, `${start}/${prefix}`)).toBe(oracle.check(address, 'ipv4'));
    }),
  );
  fc.assert(
    fc.property(fc.ipV6(), fc.integer({ min: 0, max: 128 }), (address, prefix) => {
      const oracle = new BlockList();
      oracle.addSubnet(address, prefix, 'ipv6');
      const inside = networkOf(`${address}/${prefix}`).split('/')[0] ?? '';
      expect(oracle.check(inside, 'ipv6')).toBe(true);
      expect(inNetwork(inside, `${address}/${prefix}`)).toBe(true);
    }),
  );
});

test('addresses are written as they are read', () => {
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), address => {
      const parsed = parseAddress(address);
      expect(parsed && parseAddress(formatAddress(parsed))).toEqual(parsed);
    }),
  );
  expect(parseAddress('300.1.1.1')).toBeUndefined();
});

test('a network is known by address and netmask', async () => {
  expect(await run(() => network.calc_net('172.17.0.5', '255.255.255.240'))).toBe('172.17.0.0/28');
  expect(await run(() => network.calc_net('172.17.0.5/16'))).toBe('172.17.0.0/16');
  expect(await run(() => network.ip_in_subnet('172.17.0.4', '172.16.0.0/12'))).toBe(true);
  await expect(run(() => network.calc_net('172.17.0.5', '255.0.255.0'))).rejects.toThrow(
    'Not a netmask',
  );
  expect(
    await run(() => network.ip_addrs({ cidr: '127.0.0.0/8', include_loopback: true })),
  ).toContain('127.0.0.1');
});

test('a name that is no host name is refused before anything is touched', async () => {
  await expect(run(() => network.mod_hostname('a b; reboot'))).rejects.toThrow('Not a host name');
});

test('the state of the machine is told', async () => {
  expect(await run(() => status.meminfo())).toHaveProperty('MemTotal.unit', 'kB');
  expect(await run(() => status.time('%Y'))).toMatch(/^\d{4}$/);
  expect(await run(() => status.diskusage())).toHaveProperty('/');
  expect(await run(() => ps.proc_info(process.pid))).toMatchObject({ pid: process.pid });
  expect(await run(() => ps.pgrep('no-such-process-xyz'))).toBeNull();
  await expect(run(() => ps.pkill(' '))).rejects.toThrow('needs a pattern');
});
