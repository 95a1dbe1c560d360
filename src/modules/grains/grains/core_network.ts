/** Network grains: interfaces, addresses and name servers. */

import { networkInterfaces } from 'node:os';
import { readNames, readOr } from '../../_shared/files/read-file.ts';
import { existsSync } from '../../_shared/safe-fs/fs.ts';
import type { PlainDict } from '../../api.ts';
import { addressesIn, hostNames } from '../host-names.ts';
import { gateway4, gateway6 } from '../routes.ts';

/**
 * The addresses of this host, in Salt's order, and by interface.
 */
export const addresses = (): PlainDict => {
  const found = interfaces();
  const by = (family: 4 | 6): PlainDict =>
    Object.fromEntries(
      found.map(({ name, v4, v6 }): [string, string[]] => [name, family === 4 ? v4 : v6]),
    );
  const v4 = found.flatMap(one => one.v4);
  const v6 = found.flatMap(one => one.v6);
  const hosts = readOr('/etc/hosts') ?? '';
  const named = addressesIn(hosts, hostNames().fqdn);
  return {
    ipv4: sortAddresses(v4),
    ipv6: [...new Set(v6)].sort(),
    ip_interfaces: Object.fromEntries(found.map(one => [one.name, [...one.v4, ...one.v6]])),
    ip4_interfaces: by(4),
    ip6_interfaces: by(6),
    hwaddr_interfaces: Object.fromEntries(
      found.flatMap(({ name, hwaddr }) => (hwaddr ? [[name, hwaddr]] : [])),
    ),
    fqdn_ip4: named.filter(address => !address.includes(':')),
    fqdn_ip6: named.filter(address => address.includes(':')),
    fqdns: [],
  };
};

/**
 * The default gateways: the address, true if there is one without an address, or false.
 */
export const default_gateway = (): PlainDict => {
  const ip4_gw = gateway4(readOr('/proc/net/route') ?? '');
  const ip6_gw = gateway6(readOr('/proc/net/ipv6_route') ?? '');
  return { ip_gw: ip4_gw !== false || ip6_gw !== false, ip4_gw, ip6_gw };
};

/**
 * The resolver's configuration from resolv.conf.
 */
export const dns = (): PlainDict => {
  const systemd = '/run/systemd/resolve/resolv.conf';
  const plain = readOr('/etc/resolv.conf');
  const stub = plain?.includes('127.0.0.53') === true && existsSync(systemd);
  const lines = ((stub ? readOr(systemd) : plain) ?? '').split('\n').map(line =>
    line
      .replace(/[#;].*/, '')
      .trim()
      .split(/\s+/),
  );
  const values = (key: string): string[] =>
    lines.filter(([first]) => first === key).flatMap(([, ...rest]) => rest);
  const nameservers = values('nameserver');
  if (plain === undefined) return {};
  return {
    dns: {
      nameservers,
      ip4_nameservers: nameservers.filter(address => !address.includes(':')),
      ip6_nameservers: nameservers.filter(address => address.includes(':')),
      sortlist: values('sortlist'),
      domain: values('domain').at(-1) ?? '',
      search: values('search'),
      options: values('options'),
    },
  };
};

type Interface = {
  readonly name: string;
  readonly v4: string[];
  readonly v6: string[];
  readonly hwaddr: string | undefined;
};

const interfaces = (): Interface[] => {
  const known = networkInterfaces();
  const names = new Set([...readNames('/sys/class/net'), ...Object.keys(known)]);
  return [...names].flatMap(name => {
    if (name === 'bonding_masters') return [];
    const entries = known[name] ?? [];
    return [
      {
        name,
        v4: entries.flatMap(({ family, address }) => (family === 'IPv4' ? [address] : [])),
        v6: entries.flatMap(({ family, address }) => (family === 'IPv6' ? [address] : [])),
        hwaddr: readOr(`/sys/class/net/${name}/address`)?.trim() || entries[0]?.mac,
      },
    ];
  });
};

const sortAddresses = (all: string[]): string[] => {
  const key = (address: string): number =>
    address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
  return [...new Set(all)].sort((left, right) => key(left) - key(right));
};
