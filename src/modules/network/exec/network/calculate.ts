import {
  formatAddress,
  isInNetwork,
  netmaskOf,
  networkOf,
  parseAddress,
} from '../../../_shared/text/ip-address.ts';
import { SaltInvocationError } from '../../../api.ts';
import { knownNetwork } from '../../known-network.ts';
import { isLoopback } from '../../network-interfaces.ts';

/**
 * The network of an address.
 *
 * @param ip_addr an address, maybe with its prefix: `172.17.0.5/16`
 * @param netmask its netmask
 * @example tsalt-ssh '*' network.calc_net 172.17.0.5 255.255.255.240
 */
export const calc_net = async (ip_addr: string, netmask: string | null = null): Promise<string> =>
  networkOf(netmask === null ? ip_addr : `${ip_addr}/${netmask}`);

/**
 * Returns whether an address is in a network; false when `cidr` is not a network.
 *
 * @param ip_addr the address
 * @param cidr the network
 * @example tsalt-ssh '*' network.ip_in_subnet 172.17.0.4 172.16.0.0/12
 */
export const ip_in_subnet = async (ip_addr: string, cidr: string): Promise<boolean> =>
  knownNetwork(cidr) && isInNetwork(ip_addr, cidr);

/**
 * Whether an address is not for the public: private networks, link-local, loopback, documentation …
 *
 * @param ip_addr the address
 * @example tsalt-ssh '*' network.is_private 10.0.0.3
 */
export const is_private = async (ip_addr: string): Promise<boolean> => isPrivate(ip_addr);

/** Whether IANA's registries list an address as private, as Python's `ipaddress` has them. */
export const isPrivate = (address: string): boolean =>
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
  ].some(network => isInNetwork(address, network));

/**
 * Whether an address is a loopback one.
 *
 * @param ip_addr the address
 * @example tsalt-ssh '*' network.is_loopback 127.0.0.1
 */
export const is_loopback = async (ip_addr: string): Promise<boolean> => isLoopback(ip_addr);

/**
 * Whether a text is an IPv4 or IPv6 address.
 *
 * @param ip the text
 * @example tsalt-ssh '*' network.is_ip 10.0.0.1
 */
export const is_ip = async (ip: string): Promise<boolean> => parseAddress(ip) !== undefined;

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
  return {
    network,
    netmask: netmaskOf(start.bits, Number(prefix)),
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
