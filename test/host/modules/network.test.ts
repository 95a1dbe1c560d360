import { execFileSync, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, BlockList, connect, createServer } from 'node:net';
import { userInfo } from 'node:os';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { which } from '../../../src/modules/_shared/commands/which.ts';
import {
  formatAddress,
  isInNetwork,
  networkOf,
  parseAddress,
} from '../../../src/modules/_shared/text/ip-address.ts';
import * as addresses from '../../../src/modules/network/exec/network/addresses.ts';
import * as calculate from '../../../src/modules/network/exec/network/calculate.ts';
import * as connections from '../../../src/modules/network/exec/network/connections.ts';
import * as interfaces from '../../../src/modules/network/exec/network/interfaces.ts';
import * as names from '../../../src/modules/network/exec/network/names.ts';
import * as reachable from '../../../src/modules/network/exec/network/reachable.ts';
import * as routes from '../../../src/modules/network/exec/network/routes.ts';
import { byAddress, parseInterfaces } from '../../../src/modules/network/network-interfaces.ts';
import * as ioCounters from '../../../src/modules/status/exec/ps/counters.ts';
import * as processes from '../../../src/modules/status/exec/ps/processes.ts';
import * as system from '../../../src/modules/status/exec/ps/system.ts';
import * as counters from '../../../src/modules/status/exec/status/counters.ts';
import * as host from '../../../src/modules/status/exec/status/host.ts';
import { canRunApart, runApart } from '../../helpers/apart.ts';
import { contextOf, within } from '../../modules/_context.ts';

const network = {
  ...addresses,
  ...calculate,
  ...connections,
  ...interfaces,
  ...names,
  ...reachable,
  ...routes,
};
const ps = { ...ioCounters, ...processes, ...system };
type Counts = Record<string, number>;
const status = { ...counters, ...host };

const { parseTraceroute } = reachable;

const run = <T>(work: () => Promise<T>): Promise<T> => within(contextOf({}), work);

test('networks contain what Node says they contain', () => {
  fc.assert(
    fc.property(fc.ipV4(), fc.ipV4(), fc.integer({ min: 0, max: 32 }), (address, start, prefix) => {
      const oracle = new BlockList();
      oracle.addSubnet(start, prefix, 'ipv4');
      expect(isInNetwork(address, `${start}/${prefix}`)).toBe(oracle.check(address, 'ipv4'));
    }),
  );
  fc.assert(
    fc.property(fc.ipV6(), fc.integer({ min: 0, max: 128 }), (address, prefix) => {
      const oracle = new BlockList();
      oracle.addSubnet(address, prefix, 'ipv6');
      const inside = networkOf(`${address}/${prefix}`).split('/')[0] ?? '';
      expect(oracle.check(inside, 'ipv6')).toBe(true);
      expect(isInNetwork(inside, `${address}/${prefix}`)).toBe(true);
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

test('an invalid host name is refused before anything is changed', async () => {
  await expect(run(() => network.mod_hostname('a b; reboot'))).rejects.toThrow('Not a host name');
});

test('the state of the machine is returned', async () => {
  expect(await run(() => status.meminfo())).toHaveProperty('MemTotal.unit', 'kB');
  expect(await run(() => status.time('%Y'))).toMatch(/^\d{4}$/);
  expect(await run(() => status.diskusage())).toHaveProperty('/');
  expect(await run(() => ps.proc_info(process.pid))).toMatchObject({ pid: process.pid });
  expect(await run(() => ps.pgrep('no-such-process-xyz'))).toBeNull();
  for (const pid of [0, -1, Number.NaN])
    await expect(run(() => ps.kill_pid(pid, { signal: 0 }))).rejects.toThrow('above 0');
  expect(await run(() => ps.kill_pid(process.pid, { signal: 0 }))).toBe(true);
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

test('network: interfaces as Salt shows them, aliases, secondary addresses and parents', () => {
  expect(
    parseInterfaces(`1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN
    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00
    inet 127.0.0.1/8 scope host lo
       valid_lft forever preferred_lft forever
2: eth0@if9: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP
    link/ether 02:42:ac:11:00:02 brd ff:ff:ff:ff:ff:ff link-netnsid 0
    inet 192.0.2.2/24 brd 192.0.2.255 scope global eth0
       valid_lft forever preferred_lft forever
    inet 192.0.2.9/24 brd 192.0.2.255 scope global secondary eth0:1
    inet6 fe80::fc:ff:fe00:1/64 scope link
3: ifb0: <BROADCAST,NOARP> mtu 1500 qdisc noop state DOWN
    link/ether ae:0d:44:71:d0:fd brd ff:ff:ff:ff:ff:ff
`),
  ).toEqual({
    lo: {
      up: true,
      hwaddr: '00:00:00:00:00:00',
      inet: [{ address: '127.0.0.1', netmask: '255.0.0.0', broadcast: null, label: 'lo' }],
    },
    eth0: {
      up: true,
      parent: 'if9',
      hwaddr: '02:42:ac:11:00:02',
      inet: [
        {
          address: '192.0.2.2',
          netmask: '255.255.255.0',
          broadcast: '192.0.2.255',
          label: 'eth0',
        },
      ],
      inet6: [{ address: 'fe80::fc:ff:fe00:1', prefixlen: '64', scope: 'link' }],
      secondary: [
        {
          type: 'inet',
          address: '192.0.2.9',
          netmask: '255.255.255.0',
          broadcast: '192.0.2.255',
          label: 'eth0:1',
        },
      ],
    },
    ifb0: { up: false, hwaddr: 'ae:0d:44:71:d0:fd' },
  });
});

test('network: addresses in the order of their numbers, networks with what is in them', async () => {
  expect(['10.0.0.10', '10.0.0.9', '9.1.1.1'].sort(byAddress)).toEqual([
    '9.1.1.1',
    '10.0.0.9',
    '10.0.0.10',
  ]);
  const verbose = { interface: 'l*', include_loopback: true, verbose: true };
  expect(await run(() => network.ip_networks(verbose))).toEqual({
    '127.0.0.0/8': {
      address: '127.0.0.0',
      netmask: '255.0.0.0',
      num_addresses: 2 ** 24,
      prefixlen: 8,
    },
  });
  expect(await run(() => network.interface_('lo'))).toMatchObject([{ address: '127.0.0.1' }]);
  expect(await run(() => network.interface_ip('eth99'))).toMatch(
    /^Interface "eth99" not in available interfaces: "lo"/,
  );
});

test('network: udp answers or does not', async () => {
  const server = createSocket('udp4');
  server.bind(0, '127.0.0.1');
  await once(server, 'listening');
  server.on('message', (_, from) => server.send('here', from.port, from.address));
  const { port } = server.address();
  expect(await run(() => network.connect('127.0.0.1', port, { proto: 'udp' }))).toEqual({
    result: true,
    comment: `Successfully connected to 127.0.0.1 (127.0.0.1) on udp port ${port}`,
  });
  server.close();
  await once(server, 'close');
  expect(
    await run(() => network.connect('127.0.0.1', port, { proto: 'udp', timeout: 1 })),
  ).toMatchObject({ result: false });
});

test('network: a magic packet is six times ff and sixteen times the address', async () => {
  const server = createSocket('udp4');
  server.bind(0, '127.0.0.1');
  await once(server, 'listening');
  const heard = once(server, 'message');
  await run(() => network.wol('08:00:27:13:69:77', '127.0.0.1', server.address().port));
  const [packet] = (await heard) as [Buffer];
  expect(packet.toString('hex')).toBe('f'.repeat(12) + '080027136977'.repeat(16));
  server.close();
  await expect(run(() => network.wol('08:00:27:13:69'))).rejects.toThrow('Invalid MAC address');
});

test('network: the way to a host, with machines that say nothing', () => {
  expect(
    parseTraceroute(`traceroute to example.com (192.0.2.80), 30 hops max, 60 byte packets
 1  gw.example.net (192.0.2.1)  0.307 ms  0.281 ms  0.270 ms
 2  * * *
 3  example.com (192.0.2.80)  9.811 ms  9.790 ms *
`),
  ).toEqual([
    { count: 1, hostname: 'gw.example.net', ip: '192.0.2.1', ms1: 0.307, ms2: 0.281, ms3: 0.27 },
    { count: 2, hostname: '*' },
    { count: 3, hostname: 'example.com', ip: '192.0.2.80', ms1: 9.811, ms2: 9.79 },
  ]);
});

test('ps: a process by the facts asked for, and by its owner', async () => {
  const { uid } = userInfo();
  const facts = await run(() => ps.proc_info(process.pid, ['name', 'ppid', 'cwd', 'uids']));
  expect(facts).toEqual({
    name: readFileSync('/proc/self/comm', 'utf8').trim(),
    ppid: process.ppid,
    cwd: process.cwd(),
    uids: { real: uid, effective: uid, saved: uid },
  });
  expect(await run(() => ps.proc_info(process.pid))).not.toHaveProperty('environ');
  await expect(run(() => ps.proc_info(process.pid, ['soul']))).rejects.toThrow('but not soul');
  await expect(run(() => ps.proc_info(2 ** 30))).rejects.toThrow('There is no process');
  const child = spawn('sleep', ['30']);
  try {
    const mine = await run(() => ps.pgrep('sleep', { user: userInfo().username }));
    expect(mine).toContain(child.pid);
    expect(await run(() => ps.pgrep('sleep', { user: 'no-such-user' }))).toBeNull();
    const [first] = await run(() => ps.top(1, 0.1));
    expect(first).toHaveProperty('cpu.user');
    // It may not have had a processor yet.
    await expect
      .poll(() => run(() => ps.status('sleeping')))
      .toContainEqual({ pid: child.pid, name: 'sleep' });
  } finally {
    child.kill();
  }
});

test('ps: counters are those of /proc', async () => {
  const [, bytes] = /^\s*lo:\s*(\d+)/m.exec(readFileSync('/proc/net/dev', 'utf8')) ?? [];
  const lo = (await run(() => ps.network_io_counters({ interface: 'lo' }))) as Counts;
  expect(lo.bytes_recv).toBeGreaterThanOrEqual(Number(bytes));
  const all = (await run(() => ps.network_io_counters())) as Counts;
  expect(all.bytes_recv).toBeGreaterThanOrEqual(lo.bytes_recv ?? 0);
  expect(await run(() => ps.network_io_counters({ interface: 'eth99' }))).toBe(false);
  expect(await run(() => ps.disk_io_counters('nosuchdisk'))).toBe(false);
  const [name] = (
    /^\s*\d+\s+\d+\s+(\S+)/m.exec(readFileSync('/proc/diskstats', 'utf8')) ?? []
  ).slice(1);
  if (name) expect(await run(() => ps.disk_io_counters(name))).toHaveProperty('read_bytes');
});

test.skipIf(!canRunApart())(
  'without ethtool there are no sizes of rings to tell or set',
  async () => {
    const told = await runApart(
      { hardware: 'src/modules/network/exec/network/hardware.ts' },
      `import { rmSync } from 'node:fs';
    rmSync('/usr/sbin/ethtool', { force: true });
    await step('sizes', () => hardware.get_bufsize('lo'));
    await step('set', () => hardware.mod_bufsize('lo', { rx: 1 }));`,
      ['/usr/sbin'],
    );
    expect(told).toEqual({ sizes: {}, set: false });
  },
);
