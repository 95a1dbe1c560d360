import { expect, test } from 'vitest';
import { which } from '../../../src/modules/_shared/commands/which.ts';
import { replaceInterface, splitInterfaces } from '../../../src/modules/network/ifupdown-file.ts';
import {
  type InterfaceSettings,
  interfaceStanza,
} from '../../../src/modules/network/ifupdown-stanza.ts';
import { managed } from '../../../src/modules/network/states/network.ts';
import { canRunApart, runApart } from '../../helpers/apart.ts';
import { contextOf, within } from '../../modules/_context.ts';

const stanza = (type: string, settings: InterfaceSettings, name = 'eth0', enabled = true) =>
  interfaceStanza(name, type, enabled, settings).text;

// The output of Salt 3006.9; settings that it drops (ipv6addr, up_cmds, numbers) are included here.
test.each<[string, InterfaceSettings, string[]]>([
  ['eth', { proto: 'dhcp' }, ['iface eth0 inet dhcp']],
  [
    'eth',
    {
      proto: 'static',
      ipaddr: '10.1.0.1',
      netmask: '255.255.255.0',
      dns: ['8.8.8.8', '8.8.4.4'],
      mtu: 1480,
      ttl: 18,
      ipv6proto: 'static',
      ipv6addr: '2001:db8::3',
      ipv6netmask: 64,
      ipv6ttl: 15,
    },
    [
      'iface eth0 inet static',
      '    address 10.1.0.1',
      '    netmask 255.255.255.0',
      '    ttl 18',
      '    mtu 1480',
      '    dns-nameservers 8.8.8.8 8.8.4.4',
      'iface eth0 inet6 static',
      '    address 2001:db8::3',
      '    netmask 64',
      '    ttl 15',
      '    mtu 1480',
      '    dns-nameservers 8.8.8.8 8.8.4.4',
    ],
  ],
  [
    'eth',
    { ipaddrs: ['10.0.0.5/24', '10.0.0.6/24'], autoneg: true, duplex: 'full', gro: 'off' },
    [
      'iface eth0 inet static',
      '    address 10.0.0.5/24',
      '    address 10.0.0.6/24',
      '    ethernet-autoneg on',
      '    link-duplex full',
      '    offload-gro off',
    ],
  ],
  [
    'eth',
    { enable_ipv4: false, ipv6proto: 'auto', ipv6autoconf: 1, accept_ra: 1 },
    ['iface eth0 inet6 auto', '    autoconf 1', '    accept_ra 1'],
  ],
  [
    'eth',
    { proto: 'manual', up_cmds: ['ip link set eth0 up', 'true'], bridge: 'br0' },
    ['iface eth0 inet manual', '    up ip link set eth0 up', '    up true'],
  ],
  ['slave', { master: 'bond0' }, ['iface eth0 inet manual', '    bond-master bond0']],
  [
    'bridge',
    { proto: 'dhcp', ports: ['eth1', 'eth2'], stp: false, fd: 0 },
    ['iface eth0 inet dhcp', '    bridge_fd 0', '    bridge_ports eth1 eth2', '    bridge_stp off'],
  ],
  [
    'bond',
    { proto: 'dhcp', mode: '802.3ad', slaves: 'em1 em2', lacp_rate: 'fast' },
    [
      'iface eth0 inet dhcp',
      '    bond-ad_select 0',
      '    bond-downdelay 200',
      '    bond-lacp_rate 1',
      '    bond-miimon 100',
      '    bond-mode 4',
      '    bond-slaves em1 em2',
      '    bond-updelay 0',
      '    bond-use_carrier 1',
    ],
  ],
])('%s %o', (type, settings, lines) => {
  expect(stanza(type, settings)).toBe(['auto eth0', ...lines, ''].join('\n'));
});

test('a stanza says whether it is for the boot, and what of it means nothing', () => {
  expect(stanza('vlan', { hotplug: true, proto: 'dhcp' }, 'eth0.5', false)).toBe(
    'allow-hotplug eth0.5\niface eth0.5 inet dhcp\n    vlan-raw-device eth0\n',
  );
  expect(interfaceStanza('eth0', 'eth', true, { gatewy: 'x', onboot: true }).unused).toEqual([
    'gatewy',
    'onboot',
  ]);
  const wrong: [string, InterfaceSettings, string][] = [
    ['eth', { proto: 'bogus' }, 'Option: proto, Expected: [bootp|dhcp|'],
    ['eth', { ipaddr: '10.0.0.300' }, 'Option: address, Expected: [IPv4 address]'],
    ['eth', { proto: 'dhcp', vendor: 'a\niface eth1 inet dhcp' }, 'Expected: [one line]'],
    ['eth', { duplex: 'double' }, 'Option: duplex'],
    ['bond', { mode: 9, slaves: 'a' }, 'Option: mode'],
    ['bond', { mode: 1 }, 'slaves is a required setting'],
    ['bridge', {}, 'ports is a required setting'],
    ['slave', {}, 'master is a required setting'],
  ];
  for (const [type, settings, message] of wrong)
    expect(() => stanza(type, settings)).toThrow(message);
});

test('only what a file says of the interface is replaced', () => {
  const text = `# the lab
source /etc/network/interfaces.d/*

auto lo eth0
iface lo inet loopback

allow-hotplug eth0
# to the world
iface eth0 inet   dhcp
  hostname me
\tmtu 1400
iface eth1 inet manual
`;
  expect(splitInterfaces(text, 'eth0').own).toEqual([
    'auto eth0',
    'allow-hotplug eth0',
    'iface eth0 inet dhcp',
    '    hostname me',
    '    mtu 1400',
  ]);
  expect(replaceInterface(text, 'eth0', 'NEW\nLINES\n')).toBe(`# the lab
source /etc/network/interfaces.d/*

NEW
LINES
auto lo
iface lo inet loopback

# to the world
iface eth1 inet manual
`);
  expect(replaceInterface('auto lo\n', 'eth0', 'NEW\n')).toBe('auto lo\n\nNEW\n');
  expect(replaceInterface('', 'eth0', 'NEW\n')).toBe('NEW\n');
});

test('a host with another service for its network is refused', async () => {
  const told = await within(contextOf({}), () => managed('eth0', { proto: 'dhcp' }));
  expect(told).toMatchObject({ result: false, comment: expect.stringContaining('file.managed') });
});

const missing = canRunApart() && which('ifup') ? '' : ' (needs ifupdown and root)';

test.skipIf(missing)(`the real ifupdown sets an interface up${missing}`, async () => {
  const told = await runApart(
    {
      ip: 'src/modules/network/exec/ip.ts',
      network: 'src/modules/network/exec/network/interfaces.ts',
      state: 'src/modules/network/states/network.ts',
    },
    `import { execFileSync } from 'node:child_process';
    import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
    const main = '/etc/network/interfaces';
    for (const name of ['interfaces.d', 'if-pre-up.d', 'if-up.d', 'if-down.d', 'if-post-down.d'])
      mkdirSync('/etc/network/' + name, { recursive: true });
    mkdirSync('/run/network', { recursive: true });
    writeFileSync(main, '# mine\\nsource /etc/network/interfaces.d/*\\nauto lo\\niface lo inet loopback\\n');
    const run = (...words) => execFileSync(words[0], words.slice(1), { encoding: 'utf8' });
    run('ip', 'link', 'add', 'tsalt7', 'type', 'veth', 'peer', 'name', 'tsalt8');
    const wish = { type: 'eth', proto: 'static', ipaddr: '192.0.2.10', netmask: '255.255.255.0' };
    await thrice('static', () => state.managed('tsalt7', wish));
    told.address = run('ip', '-br', 'addr', 'show', 'tsalt7');
    told.file = readFileSync(main, 'utf8');
    const more = { ...wish, mtu: 1400, up_cmds: ['ip link set tsalt8 up'] };
    await thrice('more', () => state.managed('tsalt7', more));
    told.mtu = run('ip', 'link', 'show', 'tsalt7');
    told.peer = run('ip', '-br', 'link', 'show', 'tsalt8');
    const own = { type: 'eth', proto: 'manual', filename: 'tsalt8', noifupdown: true };
    await thrice('own file', () => state.managed('tsalt8', own));
    told.own = readFileSync('/etc/network/interfaces.d/tsalt8', 'utf8');
    await step('down', () => state.managed('tsalt7', { ...more, enabled: false }));
    told.down = run('ip', '-br', 'link', 'show', 'tsalt7');
    const manual = { type: 'eth', proto: 'manual' };
    await thrice('manual', () => state.managed('tsalt7', manual));
    run('ip', 'link', 'set', 'tsalt7', 'down');
    await step('manual down', () => state.managed('tsalt7', manual));
    await step('nowhere', () => state.managed('tsalt9', { ...wish, ipaddr: '192.0.2.11' }));
    await step('type', () => state.managed('ppp0', { type: 'pppoe' }));
    await step('interface', () => ip.get_interface('tsalt8'));`,
    [],
    100,
    ['--net'],
  );
  expect(told['static told']).toMatchObject({
    result: null,
    comment: 'Interface tsalt7 is set to be added.',
  });
  expect(told.static).toMatchObject({
    result: true,
    comment: 'Interface tsalt7 added.',
    changes: { interface: 'Added network interface.', status: 'Interface tsalt7 is up' },
  });
  expect(told.address).toContain('192.0.2.10/24');
  expect(told.file).toBe(`# mine
source /etc/network/interfaces.d/*
auto lo
iface lo inet loopback

auto tsalt7
iface tsalt7 inet static
    address 192.0.2.10
    netmask 255.255.255.0
`);
  expect(told['more told']).toMatchObject({
    result: null,
    comment: expect.stringContaining('is set to be updated:\n--- \n+++ \n'),
  });
  expect(told.more).toMatchObject({
    result: true,
    changes: {
      interface: expect.stringContaining('+    mtu 1400'),
      status: 'Interface tsalt7 restart to validate',
    },
  });
  expect(told.mtu).toContain('mtu 1400');
  expect(told.peer).toMatch(/UP/);
  for (const name of ['static', 'more', 'own file'])
    expect(told[`${name} again`]).toMatchObject({
      result: true,
      changes: expect.not.objectContaining({ interface: expect.anything() }),
    });
  expect(told.own).toBe('auto tsalt8\niface tsalt8 inet manual\n');
  expect(told.interface).toEqual(['auto tsalt8\n', 'iface tsalt8 inet manual\n']);
  expect(told.down).toMatch(/DOWN/);
  expect(told['manual down']).toHaveProperty('changes', {});
  expect(told.nowhere).toMatchObject({
    result: false,
    comment: expect.stringContaining('Interface tsalt9 does not come up: '),
  });
  expect(told.type).toMatchObject({
    result: false,
    comment: expect.stringContaining('The type pppoe of interface ppp0 is not supported'),
  });
});
