import { fnmatch } from '../../../../data/python/glob.ts';
import { toList } from '../../../_shared/states/values.ts';
import {
  isInNetwork,
  netmaskOf,
  networkOf,
  parseAddress,
} from '../../../_shared/text/ip-address.ts';
import type { PlainDict } from '../../../api.ts';
import { knownNetwork } from '../../known-network.ts';
import { addressesOf, byAddress, isLoopback, readInterfaces } from '../../network-interfaces.ts';
import { isPrivate } from './calculate.ts';

/** Addresses of one kind, of the interfaces that match: names, globs, with commas or as a list. */
const listed = async (
  kind: 'inet' | 'inet6',
  iface: string | string[] | null,
): Promise<{ address: string; mask: string }[]> => {
  const patterns = iface === null ? undefined : toList(iface);
  return Object.entries(await readInterfaces())
    .filter(([name]) => !patterns || patterns.some(pattern => fnmatch(name, pattern)))
    .flatMap(([, facts]) => addressesOf(facts, kind));
};

const addresses = async (
  kind: 'inet' | 'inet6',
  iface: string | string[] | null,
  loopback: boolean,
  cidr: string | null,
): Promise<string[]> => {
  if (cidr && !knownNetwork(cidr)) return [];
  const found = (await listed(kind, iface))
    .map(({ address }) => address)
    .filter(address => loopback || !isLoopback(address))
    .filter(address => !cidr || isInNetwork(address, cidr));
  return [...new Set(found)].sort(byAddress);
};

type Which = {
  /** only these interfaces; globs */
  interface?: string | string[] | null;
  include_loopback?: boolean;
};

/**
 * The IPv4 addresses of this machine.
 *
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
}: Which & { cidr?: string | null; type?: string | null } = {}): Promise<string[]> => {
  const found = await addresses('inet', iface, include_loopback, cidr);
  return cidr || (type !== 'public' && type !== 'private')
    ? found
    : found.filter(address => isPrivate(address) === (type === 'private'));
};

/**
 * The IPv6 addresses of this machine.
 *
 * @param include_loopback true: ::1 too
 * @param cidr in this network only
 * @example tsalt-ssh '*' network.ip_addrs6
 */
export const ip_addrs6 = async ({
  interface: iface = null,
  include_loopback = false,
  cidr = null,
}: Which & { cidr?: string | null } = {}): Promise<string[]> =>
  addresses('inet6', iface, include_loopback, cidr);

/** Salt's other names of the two before. */
export const ipaddrs = ip_addrs;
export const ipaddrs6 = ip_addrs6;

const networks = async (
  kind: 'inet' | 'inet6',
  iface: string | string[] | null,
  loopback: boolean,
): Promise<string[]> => {
  const found = (await listed(kind, iface))
    .filter(({ address }) => loopback || !isLoopback(address))
    .map(({ address, mask }) => networkOf(`${address}/${mask}`));
  return [...new Set(found)].sort((left, right) =>
    byAddress(left.split('/')[0] ?? '', right.split('/')[0] ?? ''),
  );
};

/**
 * The IPv4 networks this machine is in.
 *
 * @param interfaces only these interfaces
 * @example tsalt-ssh '*' network.subnets interfaces=eth1
 */
export const subnets = async (interfaces: string | string[] | null = null): Promise<string[]> =>
  networks('inet', interfaces, false);

/**
 * The IPv6 networks this machine is in.
 *
 * @example tsalt-ssh '*' network.subnets6
 */
export const subnets6 = async (): Promise<string[]> => networks('inet6', null, false);

/**
 * Returns whether this machine has an address in a network; false when `cidr` is not a network.
 *
 * @param cidr the network
 * @example tsalt-ssh '*' network.in_subnet 10.0.0.0/16
 */
export const in_subnet = async (cidr: string): Promise<boolean> =>
  knownNetwork(cidr) &&
  ((await addresses('inet', null, false, cidr)).length > 0 ||
    (await addresses('inet6', null, false, cidr)).length > 0);

type Verbose = Which & {
  /** true: a dict with `address`, `netmask`, `num_addresses` and `prefixlen` of each */
  verbose?: boolean;
};

/**
 * The IPv4 networks of this machine, or of some interfaces.
 *
 * @param include_loopback true: 127.0.0.0/8 too
 * @example tsalt-ssh '*' network.ip_networks interface=docker0
 */
export const ip_networks = async ({
  interface: iface = null,
  include_loopback = false,
  verbose = false,
}: Verbose = {}): Promise<string[] | PlainDict> => {
  const found = await networks('inet', iface, include_loopback);
  return verbose ? describeAll(found) : found;
};

/**
 * The IPv6 networks of this machine, or of some interfaces.
 *
 * @param include_loopback true: ::1/128 too
 * @example tsalt-ssh '*' network.ip_networks6 interface=docker0
 */
export const ip_networks6 = async ({
  interface: iface = null,
  include_loopback = false,
  verbose = false,
}: Verbose = {}): Promise<string[] | PlainDict> => {
  const found = await networks('inet6', iface, include_loopback);
  return verbose ? describeAll(found) : found;
};

const describeAll = (networks: readonly string[]): PlainDict =>
  Object.fromEntries(
    networks.map(network => {
      const [address = '', prefix = ''] = network.split('/');
      const bits = parseAddress(address)?.bits ?? 32;
      return [
        network,
        {
          address,
          netmask: netmaskOf(bits, Number(prefix)),
          num_addresses: 2 ** (bits - Number(prefix)),
          prefixlen: Number(prefix),
        },
      ];
    }),
  );
