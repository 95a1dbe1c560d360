import { isIPv4, isIPv6 } from 'node:net';
import { getOwn } from '../../protocol/plain.ts';
import { plainStr } from '../_shared/text/python-text.ts';
import { SaltInvocationError } from '../api.ts';

/** The settings of an interface in an SLS. */
export type InterfaceSettings = { readonly [option: string]: unknown };
export type InterfaceStanza = {
  readonly text: string;
  /** Settings that mean nothing here. */
  readonly unused: readonly string[];
};

const fail = (name: string, option: string, expected: string): never => {
  throw new SaltInvocationError(
    `Invalid option -- Interface: ${name}, Option: ${option}, Expected: [${expected}]`,
  );
};

const protocols: Readonly<Record<Family, readonly string[]>> = {
  inet: ['bootp', 'dhcp', 'static', 'manual', 'loopback', 'ppp'],
  inet6: ['auto', 'loopback', 'static', 'manual', 'dhcp', 'v4tunnel', '6to4'],
};
type Family = 'inet' | 'inet6';

/** Salt's names of options, and interfaces(5)'s. */
const names: Readonly<Record<string, string>> = {
  dns: 'dns-nameservers',
  search: 'dns-search',
  hwaddr: 'hwaddress',
  ipaddr: 'address',
  addr: 'address',
  ipaddrs: 'address',
  ipaddresses: 'address',
  addresses: 'address',
  up_cmds: 'up',
  down_cmds: 'down',
  pre_up_cmds: 'pre-up',
  post_up_cmds: 'post-up',
  pre_down_cmds: 'pre-down',
  post_down_cmds: 'post-down',
};
/** In the order in which they are written. */
const common = (
  'hwaddress address netmask broadcast gateway pointopoint scope mode endpoint local ttl mtu ' +
  'dns-nameservers dns-search pre-up up post-up pre-down down post-down'
).split(' ');
const known: Readonly<Record<Family, readonly string[]>> = {
  inet: [
    ...common,
    ...'metric hostname leasehours leasetime vendor client bootfile server dstaddr'.split(' '),
    ...'provider unit options'.split(' '),
  ],
  inet6: [
    ...common,
    ...'autoconf privext dhcp media accept_ra preferred-lifetime dad-attempts'.split(' '),
    'dad-interval',
  ],
};
const wireless =
  /^(?:wireless-(?:essid|mode)|wpa-(?:ap-scan|conf|driver|group|key-mgmt|pairwise|psk|proto|roam|ssid))$/;
const only4 =
  /^(?:ipaddr|address|addr|ipaddrs|ipaddresses|addresses|gateway|proto|netmask|broadcast)$/;
const severalLines = /^(?:address|(?:pre-|post-)?(?:up|down))$/;

const on = ['yes', 'on', 'true', '1'];
const off = ['no', 'off', 'false', '0'];
const switchOf = (name: string, option: string, value: unknown): string => {
  const text = plainStr(value).toLowerCase();
  if (on.includes(text)) return 'on';
  return off.includes(text) ? 'off' : fail(name, option, [...on, ...off].join('|'));
};

const ethtool: Readonly<Record<string, string>> = {
  autoneg: 'ethernet-autoneg',
  duplex: 'link-duplex',
  speed: 'link-speed',
  ...Object.fromEntries(
    ['rx', 'tx', 'sg', 'tso', 'ufo', 'gso', 'gro', 'lro'].map(key => [key, `offload-${key}`]),
  ),
};
const bridging =
  'ports ageing bridgeprio fd gcint hello hw maxage maxwait pathcost portprio stp waitport';
const bondModes =
  'balance-rr active-backup balance-xor broadcast 802.3ad balance-tlb balance-alb'.split(' ');
const bonding = (
  'ad_select arp_interval arp_ip_target arp_validate downdelay fail_over_mac lacp_rate miimon ' +
  'num_grat_arp num_unsol_na primary primary_reselect updelay use_carrier xmit_hash_policy'
).split(' ');

const wordsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.map(plainStr) : plainStr(value).trim().split(/\s+/);
const blankSeparated = (value: unknown): string => wordsOf(value).join(' ');

/** A line break would begin a line of the file that nobody asked for. */
const oneLine = (name: string, [key, value]: readonly [string, string]): string => {
  if (/[\r\n]/.test(value)) fail(name, key, 'one line');
  return `    ${key} ${value}`;
};

type Line = readonly [string, string];

const bridgeLines = (name: string, settings: InterfaceSettings): Line[] => {
  if (settings.ports === undefined || settings.ports === null)
    throw new SaltInvocationError(
      'ports is a required setting for bridge interfaces on Debian or Ubuntu based systems',
    );
  return bridging
    .split(' ')
    .filter(key => settings[key] !== undefined)
    .sort()
    .map(key => [
      `bridge_${key}`,
      key === 'stp' ? switchOf(name, key, settings.stp) : blankSeparated(settings[key]),
    ]);
};

const bondLines = (name: string, settings: InterfaceSettings): Line[] => {
  if (settings.slaves === undefined || settings.slaves === null)
    throw new SaltInvocationError('slaves is a required setting for bond interfaces');
  const given = plainStr(settings.mode ?? '');
  const mode = /^[0-6]$/.test(given) ? Number(given) : bondModes.indexOf(given);
  if (mode < 0) fail(name, 'mode', ['0-6', ...bondModes].join('|'));
  const watches = mode === 1 || mode >= 4 || settings.arp_ip_target === undefined;
  const options: Record<string, unknown> = {
    ...(watches
      ? { miimon: 100, downdelay: 200, updelay: 0, use_carrier: 1 }
      : { arp_interval: 250 }),
    ...(mode === 4 ? { ad_select: 0, lacp_rate: 0 } : {}),
    ...Object.fromEntries(
      bonding.flatMap(key => (settings[key] === undefined ? [] : [[key, settings[key]]])),
    ),
  };
  const hashing = settings['hashing-algorithm'] ?? settings.hashing_algorithm;
  if (hashing !== undefined) options.xmit_hash_policy = hashing;
  const rate = plainStr(options.lacp_rate ?? '');
  if (rate === 'slow' || rate === 'fast') options.lacp_rate = rate === 'fast' ? 1 : 0;
  if (options.use_carrier !== undefined)
    options.use_carrier = switchOf(name, 'use_carrier', options.use_carrier) === 'on' ? 1 : 0;
  if (Array.isArray(options.arp_ip_target)) options.arp_ip_target = options.arp_ip_target.join(',');
  return Object.entries({ ...options, mode, slaves: settings.slaves })
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, value]) => [`bond-${key}`, blankSeparated(value)]);
};

const typeLines = (name: string, type: string, settings: InterfaceSettings): Line[] => {
  if (type === 'bridge') return bridgeLines(name, settings);
  if (type === 'bond') return bondLines(name, settings);
  if (type === 'vlan') return [['vlan-raw-device', name.replace(/\.\d*$/, '')]];
  if (type !== 'slave') return [];
  if (!settings.master)
    throw new SaltInvocationError('master is a required setting for slave interfaces');
  return [['bond-master', plainStr(settings.master)]];
};

/** Which family an option is for, and interfaces(5)'s name of it. */
const placed = (option: string): { families: readonly Family[]; key: string } => {
  const [, prefix, rest = option] = /^(ipv4|ipv6)(.+)$/.exec(option) ?? [];
  const key = getOwn(names, rest) ?? (rest === 'accept_ra' ? rest : rest.replaceAll('_', '-'));
  if (prefix === 'ipv6') return { families: ['inet6'], key };
  return { families: prefix === 'ipv4' || only4.test(rest) ? ['inet'] : ['inet', 'inet6'], key };
};

const checkedAddress = (name: string, family: Family, address: string): string => {
  const plain = address.split('/')[0] ?? '';
  if (family === 'inet' ? isIPv4(plain) : isIPv6(plain)) return address;
  return fail(name, 'address', family === 'inet' ? 'IPv4 address' : 'IPv6 address');
};

/** Settings by family: lists, as an address may be there several times. */
type Settings = Record<Family, Map<string, string[]>>;

const readSettings = (name: string, given: InterfaceSettings, unused: string[]): Settings => {
  const found: Settings = { inet: new Map(), inet6: new Map() };
  for (const [option, value] of Object.entries(given)) {
    if (value === null || value === undefined || own.test(option)) continue;
    const { families, key } = placed(option);
    const fitting = families.filter(
      family => key === 'proto' || known[family].includes(key) || wireless.test(key),
    );
    if (fitting.length === 0) unused.push(option);
    const isSpecific = families.length === 1;
    for (const family of fitting) {
      const lines = severalLines.test(key)
        ? [value].flat().map(plainStr)
        : [Array.isArray(value) ? value.map(plainStr).join(' ') : plainStr(value)];
      const old = found[family].get(key);
      if (key === 'address')
        found[family].set(key, [
          ...(old ?? []),
          ...lines.map(one => checkedAddress(name, family, one)),
        ]);
      else if (old === undefined || isSpecific) found[family].set(key, lines);
    }
  }
  return found;
};

/** Keys that are handled elsewhere or are not settings of an interface. */
const own = new RegExp(
  `^(?:${[
    'enable_ipv4|enable_ipv6|noifupdown|hotplug|filename|test|type|slave|vlan|master|slaves',
    ...Object.keys(ethtool),
    ...bridging.split(' '),
    ...bonding,
    'hashing[-_]algorithm|mode',
  ].join('|')})$`,
);

const protocolOf = (
  name: string,
  family: Family,
  settings: ReadonlyMap<string, readonly string[]>,
): string | undefined => {
  const given = settings.get('proto')?.[0];
  const isStatic = settings.has('address');
  if (given === undefined || given === 'none')
    return isStatic ? 'static' : family === 'inet' ? 'manual' : undefined;
  return protocols[family].includes(given)
    ? given
    : fail(name, 'proto', protocols[family].join('|'));
};

/**
 * An interface's part of /etc/network/interfaces.
 *
 * @throws SaltInvocationError for settings that make no sense
 */
export const interfaceStanza = (
  name: string,
  type: string,
  enabled: boolean,
  settings: InterfaceSettings,
): InterfaceStanza => {
  if (!/^[\w.:@-]+$/.test(name)) fail(name, 'name', 'a name of an interface');
  const unused: string[] = [];
  const byFamily = readSettings(name, settings, unused);
  if (type === 'slave') byFamily.inet.set('proto', ['manual']);
  const extra = [...typeLines(name, type, settings), ...ethtoolLines(name, type, settings)];
  const lines = [
    ...(enabled ? [`auto ${name}`] : []),
    ...(settings.hotplug ? [`allow-hotplug ${name}`] : []),
  ];
  for (const family of ['inet', 'inet6'] as const) {
    if (settings[family === 'inet' ? 'enable_ipv4' : 'enable_ipv6'] === false) continue;
    const found = byFamily[family];
    const protocol = protocolOf(name, family, found);
    if (protocol === undefined) continue;
    lines.push(`iface ${name} ${family} ${protocol}`);
    const order = [...known[family], ...[...found.keys()].filter(key => wireless.test(key)).sort()];
    for (const key of order)
      for (const value of found.get(key) ?? []) lines.push(oneLine(name, [key, value]));
    lines.push(...extra.map(line => oneLine(name, line)));
  }
  return { text: `${lines.join('\n')}\n`, unused };
};

const ethtoolLines = (name: string, type: string, settings: InterfaceSettings): Line[] =>
  type === 'bridge'
    ? []
    : Object.entries(ethtool)
        .filter(([key]) => settings[key] !== undefined && settings[key] !== null)
        .map(([key, written]): Line => {
          const value = settings[key];
          if (key === 'duplex' && value !== 'full' && value !== 'half')
            fail(name, key, 'full|half');
          if (key === 'speed' && !/^\d+$/.test(plainStr(value)))
            fail(name, key, '10|100|1000|10000');
          return [
            written,
            key === 'duplex' || key === 'speed' ? plainStr(value) : switchOf(name, key, value),
          ];
        })
        .sort(([one], [other]) => (one < other ? -1 : 1));
