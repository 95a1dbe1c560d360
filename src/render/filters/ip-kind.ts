import {
  type IpInterface,
  type IpNetwork,
  ipNetworkOf,
  isInside,
  networkSize,
  parseIp,
} from '../../data/python/ip-address.ts';

type Networks = () => readonly IpNetwork[];

/** Parsed on first use: every run loads this file, but few use it. */
const networks = (texts: string): Networks => {
  let read: readonly IpNetwork[] | undefined;
  return () => {
    read ??= texts.split(' ').flatMap(text => {
      const address = parseIp(text);
      return address ? [ipNetworkOf(address)] : [];
    });
    return read;
  };
};

/** IANA's special-purpose registries, as Python's `ipaddress` has them. */
const privateOnes = networks(
  '0.0.0.0/8 10.0.0.0/8 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 ' +
    '192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 240.0.0.0/4 ' +
    '::1/128 ::/128 64:ff9b:1::/48 100::/64 2001::/23 2001:db8::/32 2002::/16 fc00::/7 fe80::/10',
);
const publicWithin = networks(
  '192.0.0.9/32 192.0.0.10/32 2001:1::1/128 2001:1::2/128 2001:3::/32 2001:4:112::/48 ' +
    '2001:20::/28 2001:30::/28',
);
const reserved = networks(
  '240.0.0.0/4 ::/8 100::/8 200::/7 400::/6 800::/5 1000::/4 4000::/3 6000::/3 8000::/3 ' +
    'a000::/3 c000::/3 e000::/4 f000::/5 f800::/6 fe00::/9',
);
const multicast = networks('224.0.0.0/4 ff00::/8');
const linkLocal = networks('169.254.0.0/16 fe80::/10');
const siteLocal = networks('fec0::/10');
const loopback4 = networks('127.0.0.0/8');
const mapped = networks('::ffff:0:0/96');

const within =
  (list: Networks) =>
  (address: IpInterface): boolean =>
    list().some(network => isInside(address, network));

/** `::ffff:10.0.0.1` has the same kinds as 10.0.0.1. */
const unmapped = (address: IpInterface): IpInterface =>
  within(mapped)(address) ? { version: 4, value: address.value & 0xffffffffn } : address;

const isPrivate = (address: IpInterface): boolean => {
  const one = unmapped(address);
  return within(privateOnes)(one) && !within(publicWithin)(one);
};

/** Whether it is this single address, without a larger network. */
const isExactly = (address: IpInterface, value: bigint): boolean =>
  address.value === value &&
  (address.version === 4 ? address.prefix === undefined : networkSize(ipNetworkOf(address)) === 1n);

const isLoopback = (address: IpInterface): boolean =>
  address.version === 4 ? within(loopback4)(address) : isExactly(address, 1n);

const isPublic = (address: IpInterface): boolean => !isPrivate(address);

/** The kinds in the `options` of Salt's address filters, in the order in which they are checked. */
export const ipKinds: ReadonlyMap<string, (address: IpInterface) => boolean> = new Map([
  ['global', isPublic],
  ['public', isPublic],
  ['private', isPrivate],
  ['link-local', within(linkLocal)],
  ['linklocal', within(linkLocal)],
  ['link_local', within(linkLocal)],
  ['ll', within(linkLocal)],
  ['loopback', isLoopback],
  ['lo', isLoopback],
  ['multicast', within(multicast)],
  ['reserved', within(reserved)],
  ['site-local', within(siteLocal)],
  ['site_local', within(siteLocal)],
  ['sl', within(siteLocal)],
  ['unspecified', (address: IpInterface) => isExactly(address, 0n)],
]);
