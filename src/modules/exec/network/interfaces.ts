/**
 * Addresses, names, routes and connections of the host.
 *
 * @platform linux
 */

import { networkInterfaces } from 'node:os';
import { CommandExecutionError, type PlainDict, SaltInvocationError } from '../../api.ts';
import { formatAddress, inNetwork, networkOf, parseAddress } from '../../lib/ip-address.ts';
import { readOr } from '../../lib/read-file.ts';

type Address = { address: string; netmask: string; prefixlen: string; label: string };

/**
 * The network interfaces with their addresses.
 *
 * @example tsalt-ssh '*' network.interfaces
 */
export const interfaces = async (): Promise<PlainDict> => {
  const all: PlainDict = {};
  for (const [name, entries] of Object.entries(networkInterfaces())) {
    const of = (family: string): Address[] =>
      (entries ?? [])
        .filter(entry => entry.family === family)
        .map(({ address, netmask, cidr }) => ({
          address,
          netmask,
          prefixlen: cidr?.split('/')[1] ?? '',
          label: name,
        }));
    all[name] = {
      hwaddr: readOr(`/sys/class/net/${name}/address`)?.trim() || (entries?.[0]?.mac ?? ''),
      inet: of('IPv4'),
      inet6: of('IPv6'),
      up: readOr(`/sys/class/net/${name}/operstate`)?.trim() !== 'down',
    };
  }
  return all;
};

/**
 * The interface's facts: `network.interface eth0`.
 *
 * @param iface its name
 * @example tsalt-ssh '*' network.interface eth0
 */
export const interface_ = async (iface: string): Promise<PlainDict> => {
  const found = (await interfaces())[iface];
  if (typeof found !== 'object' || found === null || Array.isArray(found))
    throw new CommandExecutionError(`Interface "${iface}" not found`);
  return found;
};

export const __func_alias__ = { interface_: 'interface' };

/**
 * The first IPv4 address of an interface.
 *
 * @param iface its name
 * @example tsalt-ssh '*' network.interface_ip eth0
 */
export const interface_ip = async (iface: string): Promise<string> =>
  networkInterfaces()[iface]?.find(({ family }) => family === 'IPv4')?.address ?? '';

/**
 * The IPv4 addresses of this machine.
 *
 * @param iface of this interface only
 * @param include_loopback true: 127.0.0.1 too
 * @param cidr in this network only
 * @param type `public` or `private` ones only; without effect where there is a `cidr`
 * @example tsalt-ssh '*' network.ip_addrs cidr=10.0.0.0/8
 */
export const ip_addrs = async ({
  interface: iface = null,
  include_loopback = false,
  cidr = null,
  type = null,
}: {
  interface?: string | null;
  include_loopback?: boolean;
  cidr?: string | null;
  type?: string | null;
} = {}): Promise<string[]> => {
  const found = addresses('IPv4', iface, include_loopback, cidr);
  return cidr !== null || (type !== 'public' && type !== 'private')
    ? found
    : found.filter(address => isPrivate(address) === (type === 'private'));
};

/**
 * The IPv6 addresses of this machine.
 *
 * @param interface of this interface only
 * @param include_loopback true: ::1 too
 * @param cidr in this network only
 * @example tsalt-ssh '*' network.ip_addrs6
 */
export const ip_addrs6 = async ({
  interface: iface = null,
  include_loopback = false,
  cidr = null,
}: {
  interface?: string | null;
  include_loopback?: boolean;
  cidr?: string | null;
} = {}): Promise<string[]> => addresses('IPv6', iface, include_loopback, cidr);

/** Salt's other names of the two before. */
export const ipaddrs = ip_addrs;
export const ipaddrs6 = ip_addrs6;

const addresses = (
  family: 'IPv4' | 'IPv6',
  iface: string | null,
  loopback: boolean,
  cidr: string | null,
): string[] => {
  const found = Object.entries(networkInterfaces())
    .filter(([name]) => iface === null || name === iface)
    .flatMap(([, entries]) => entries ?? [])
    .filter(entry => entry.family === family && (loopback || !entry.internal))
    .map(({ address }) => address)
    .filter(address => cidr === null || inNetwork(address, cidr));
  return [...new Set(found)].sort();
};

/**
 * The networks this machine is in.
 *
 * @example tsalt-ssh '*' network.subnets
 */
export const subnets = async (): Promise<string[]> => [
  ...new Set(
    Object.values(networkInterfaces())
      .flatMap(entries => entries ?? [])
      .filter(({ family, internal }) => family === 'IPv4' && !internal)
      .flatMap(({ cidr }) => (cidr ? [networkOf(cidr)] : [])),
  ),
];

/**
 * The network of an address.
 *
 * @param ip an address, maybe with its prefix: `172.17.0.5/16`
 * @param netmask its netmask
 * @example tsalt-ssh '*' network.calc_net 172.17.0.5 255.255.255.240
 */
export const calc_net = async (ip: string, netmask: string | null = null): Promise<string> =>
  networkOf(netmask === null ? ip : `${ip}/${netmask}`);

/**
 * Whether an address is in a network.
 *
 * @param ip_addr the address
 * @param cidr the network
 * @example tsalt-ssh '*' network.ip_in_subnet 172.17.0.4 172.16.0.0/12
 */
export const ip_in_subnet = async (ip_addr: string, cidr: string): Promise<boolean> =>
  inNetwork(ip_addr, cidr);

/**
 * Whether this machine has an address in a network.
 *
 * @param cidr the network
 * @example tsalt-ssh '*' network.in_subnet 10.0.0.0/16
 */
export const in_subnet = async (cidr: string): Promise<boolean> =>
  (await ip_addrs({ cidr })).length > 0;

/**
 * Whether an address is not for the public: private networks, link-local, loopback, documentation …
 *
 * @param ip_addr the address
 * @example tsalt-ssh '*' network.is_private 10.0.0.3
 */
export const is_private = async (ip_addr: string): Promise<boolean> => isPrivate(ip_addr);

/** What IANA's registries keep from the public, as Python's `ipaddress` has them. */
const isPrivate = (address: string): boolean =>
  [
    '0.0.0.0/8',
    '10.0.0.0/8',
    '127.0.0.0/8',
    '169.254.0.0/16',
    '172.16.0.0/12',
    '192.0.0.0/24',
    '192.0.2.0/24',
    '192.168.0.0/16',
    '198.18.0.0/15',
    '198.51.100.0/24',
    '203.0.113.0/24',
    '240.0.0.0/4',
    '::/127',
    '64:ff9b:1::/48',
    '100::/64',
    '2001::/23',
    '2001:db8::/32',
    '2002::/16',
    'fc00::/7',
    'fe80::/10',
  ].some(network => inNetwork(address, network));

/**
 * Whether an address is a loopback one.
 *
 * @param ip_addr the address
 * @example tsalt-ssh '*' network.is_loopback 127.0.0.1
 */
export const is_loopback = async (ip_addr: string): Promise<boolean> =>
  inNetwork(ip_addr, '127.0.0.0/8') || inNetwork(ip_addr, '::1/128');

/**
 * Whether a text is an IPv4 or IPv6 address.
 *
 * @param ip the text
 * @example tsalt-ssh '*' network.is_ip 10.0.0.1
 */
export const is_ip = async (ip: string): Promise<boolean> => parseAddress(ip) !== undefined;

/**
 * The hardware address of an interface.
 *
 * @param iface its name
 * @example tsalt-ssh '*' network.hw_addr eth0
 */
export const hw_addr = async (iface: string): Promise<string> =>
  String((await interface_(iface)).hwaddr);

/** Salt's other name of `network.hw_addr`. */
export const hwaddr = hw_addr;

/**
 * The interfaces with an address that begins so.
 *
 * @param cidr how it begins
 * @example tsalt-ssh '*' network.ifacestartswith 10.0
 */
export const ifacestartswith = async (cidr: string): Promise<string[]> =>
  Object.entries(networkInterfaces())
    .filter(([, entries]) => (entries ?? []).some(({ address }) => address.startsWith(cidr)))
    .map(([name]) => name);

/**
 * The networks of IPv6 this machine is in.
 *
 * @example tsalt-ssh '*' network.subnets6
 */
export const subnets6 = async (): Promise<string[]> => [
  ...new Set(
    Object.values(networkInterfaces())
      .flatMap(entries => entries ?? [])
      .filter(({ family, internal }) => family === 'IPv6' && !internal)
      .flatMap(({ cidr }) => (cidr ? [networkOf(cidr)] : [])),
  ),
];

/**
 * A network's address, netmask and broadcast address.
 *
 * @param cidr `172.17.0.0/16`
 * @example tsalt-ssh '*' network.convert_cidr 172.17.0.0/16
 */
export const convert_cidr = async (
  cidr: string,
): Promise<{ network: string; netmask: string; broadcast: string }> => {
  const [network = '', prefix = ''] = networkOf(cidr).split('/');
  const start = parseAddress(network);
  if (!start) throw new SaltInvocationError(`Not a network: ${cidr}`);
  const size = BigInt(start.bits - Number(prefix));
  const all = (1n << BigInt(start.bits)) - 1n;
  return {
    network,
    netmask: formatAddress({ bits: start.bits, value: (all >> size) << size }),
    broadcast: formatAddress({ bits: start.bits, value: start.value | ((1n << size) - 1n) }),
  };
};

/**
 * The name under which DNS has what belongs to an address.
 *
 * @param ip_addr the address
 * @example tsalt-ssh '*' network.reverse_ip 172.17.0.4
 */
export const reverse_ip = async (ip_addr: string): Promise<string> => {
  const address = parseAddress(ip_addr);
  if (!address) throw new SaltInvocationError(`Not an IP address: ${ip_addr}`);
  if (address.bits === 32) return `${ip_addr.split('.').reverse().join('.')}.in-addr.arpa`;
  const digits = address.value.toString(16).padStart(32, '0');
  return `${[...digits].reverse().join('.')}.ip6.arpa`;
};

/**
 * An IPv4 address as eight hexadecimal digits.
 *
 * @param ip the address
 * @example tsalt-ssh '*' network.iphexval 10.0.0.1
 */
export const iphexval = async (ip: string): Promise<string> => {
  const address = parseAddress(ip);
  if (address?.bits !== 32) throw new SaltInvocationError(`Not an IPv4 address: ${ip}`);
  return address.value.toString(16).toUpperCase().padStart(8, '0');
};
