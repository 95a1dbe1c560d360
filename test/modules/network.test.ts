import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, BlockList, connect, createServer } from 'node:net';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import * as connections from '../../src/modules/exec/network/connections.ts';
import * as interfaces from '../../src/modules/exec/network/interfaces.ts';
import * as names from '../../src/modules/exec/network/names.ts';
import * as routes from '../../src/modules/exec/network/routes.ts';
import * as processes from '../../src/modules/exec/ps/processes.ts';
import * as system from '../../src/modules/exec/ps/system.ts';
import * as counters from '../../src/modules/exec/status/counters.ts';
import * as host from '../../src/modules/exec/status/host.ts';
import {
  formatAddress,
  inNetwork,
  networkOf,
  parseAddress,
} from '../../src/modules/lib/ip-address.ts';
import { which } from '../../src/modules/lib/which.ts';
import { contextOf, within } from './_context.ts';

const network = { ...connections, ...interfaces, ...names, ...routes };
const ps = { ...processes, ...system };
const status = { ...counters, ...host };

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
  const secluded = ['10.1.1.1', '192.0.2.2', '203.0.113.9', '::1', 'fd00::1', '2001:db8::1'];
  for (const address of secluded) expect(await run(() => network.is_private(address))).toBe(true);
  for (const address of ['8.8.8.8', '100.64.0.1', '2606:4700::1'])
    expect(await run(() => network.is_private(address))).toBe(false);
  const loopback = (type: string) => run(() => network.ip_addrs({ include_loopback: true, type }));
  expect(await loopback('private')).toContain('127.0.0.1');
  expect(await loopback('public')).not.toContain('127.0.0.1');
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

test('network: what depends on addresses only', async () => {
  expect(await run(() => network.convert_cidr('172.17.0.9/16'))).toEqual({
    network: '172.17.0.0',
    netmask: '255.255.0.0',
    broadcast: '172.17.255.255',
  });
  expect(await run(() => network.reverse_ip('172.17.0.4'))).toBe('4.0.17.172.in-addr.arpa');
  expect(await run(() => network.reverse_ip('2001:db8::1'))).toBe(
    `1.${'0.'.repeat(23)}8.b.d.0.1.0.0.2.ip6.arpa`,
  );
  expect(await run(() => network.iphexval('10.0.0.1'))).toBe('0A000001');
  await expect(run(() => network.reverse_ip('x'))).rejects.toThrow('Not an IP address: x');
  await expect(run(() => network.connect('x', 1, { proto: 'udp' }))).rejects.toThrow('only tcp');
});

const say = (...argv: [string, ...string[]]): string =>
  execFileSync(argv[0], argv.slice(1), { encoding: 'utf8', env: { ...process.env, LC_ALL: 'C' } });

test.skipIf(which('ip') === undefined || which('ss') === undefined)(
  'network: what the kernel tells is what ip and ss tell (needs iproute2)',
  async () => {
    const server = createServer(() => undefined).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const client = connect(port, '127.0.0.1');
    await once(client, 'connect');
    try {
      const listed = await run(() => network.netstat());
      expect(listed).toContainEqual(
        expect.objectContaining({
          proto: 'tcp',
          'local-address': `127.0.0.1:${port}`,
          state: 'LISTEN',
        }),
      );
      expect(Object.values(await run(() => network.active_tcp()))).toContainEqual({
        local_addr: '127.0.0.1',
        local_port: String(client.localPort),
        remote_addr: '127.0.0.1',
        remote_port: String(port),
      });
    } finally {
      client.destroy();
      server.close();
    }
    const lines = say('ip', '-4', 'route', 'show')
      .split('\n')
      .filter(line => line.trim() !== '');
    expect(await run(() => network.routes('inet'))).toHaveLength(lines.length);
    expect(await run(() => network.get_route('127.0.0.1'))).toMatchObject({
      interface: 'lo',
      source: '127.0.0.1',
    });
    await expect(run(() => network.get_route('-f'))).rejects.toThrow('Not an IP address');
    expect(await run(() => network.hw_addr('lo'))).toBe('00:00:00:00:00:00');
    expect(await run(() => network.ifacestartswith('127.0'))).toEqual(['lo']);
  },
);

test('status: counters are those of /proc', async () => {
  const cpu = (await run(() => status.cpustats())) as Record<string, Record<string, number>>;
  const [, user = ''] = /^cpu\s+(\d+)/m.exec(readFileSync('/proc/stat', 'utf8')) ?? [];
  expect(Math.abs(Number(user) - (cpu.cpu?.user ?? 0))).toBeLessThan(1000);
  expect(cpu.btime).toBe(await run(() => ps.boot_time()));
  expect(await run(() => status.vmstats())).toHaveProperty('nr_free_pages');
  expect(await run(() => status.netdev())).toMatchObject({ lo: { iface: 'lo' } });
  expect(await run(() => status.netstats())).toHaveProperty('TcpExt');
  expect(Object.keys(await run(() => status.all_status()))).toContain('loadavg');
  expect(
    Object.keys(await run(() => status.custom({ loadavg: ['1-min'], cpustats: ['btime'] }))),
  ).toEqual(['1-min', 'btime']);
  await expect(run(() => status.custom({ nothing: ['x'] }))).rejects.toThrow(
    'There is no function status.nothing',
  );
});

test('ps: what the machine has', async () => {
  const memory = (await run(() => ps.virtual_memory())) as Record<string, number>;
  expect(memory.total).toBe(await run(() => ps.total_physical_memory()));
  expect(memory.percent).toBeGreaterThan(0);
  expect(await run(() => ps.swap_memory())).toHaveProperty('free');
  expect(await run(() => ps.num_cpus())).toBe(Number(say('nproc', '--all')));
  expect(await run(() => ps.cpu_times(true))).toHaveLength(await run(() => ps.num_cpus()));
  expect(await run(() => ps.cpu_percent(0.05))).toBeGreaterThanOrEqual(0);
  const usage = (await run(() => ps.disk_usage('/'))) as Record<string, number>;
  const [, total] = say('df', '-B1', '--output=size', '/').trim().split('\n');
  expect(usage.total).toBe(Number(total));
  await expect(run(() => ps.disk_usage('/no/such'))).rejects.toThrow('There is no /no/such.');
  expect((await run(() => ps.disk_partitions(true))).map(one => one.mountpoint)).toContain('/');
  expect(await run(() => ps.boot_time('%Y'))).toMatch(/^20\d\d$/);
});
