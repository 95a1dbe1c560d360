/**
 * Addresses, names, routes and connections of the host.
 *
 * @platform linux
 */
import { lookup, reverse } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { hostname, networkInterfaces } from 'node:os';
import { CommandExecutionError, type PlainDict, SaltInvocationError } from '../api.ts';
import { inNetwork, networkOf, parseAddress } from '../lib/ip-address.ts';
import { readOr } from '../lib/read-file.ts';
import { runChecked, runCommand } from '../lib/run-command.ts';
import { which } from '../lib/which.ts';
import { replaceFile } from '../lib/write-file.ts';

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
 * @example tsalt-ssh '*' network.ip_addrs cidr=10.0.0.0/8
 */
export const ip_addrs = async ({
  interface: iface = null,
  include_loopback = false,
  cidr = null,
}: {
  interface?: string | null;
  include_loopback?: boolean;
  cidr?: string | null;
} = {}): Promise<string[]> => addresses('IPv4', iface, include_loopback, cidr);

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
 * Whether an address belongs to a private network (RFC 1918) or this machine.
 *
 * @param ip_addr the address
 * @example tsalt-ssh '*' network.is_private 10.0.0.3
 */
export const is_private = async (ip_addr: string): Promise<boolean> =>
  [
    '10.0.0.0/8',
    '172.16.0.0/12',
    '192.168.0.0/16',
    '127.0.0.0/8',
    '169.254.0.0/16',
    'fc00::/7',
    'fe80::/10',
    '::1/128',
  ].some(network => inNetwork(ip_addr, network));

/**
 * Whether an address is a loopback one.
 *
 * @param ip_addr the address
 * @example tsalt-ssh '*' network.is_loopback 127.0.0.1
 */
export const is_loopback = async (ip_addr: string): Promise<boolean> =>
  inNetwork(ip_addr, '127.0.0.0/8') || inNetwork(ip_addr, '::1/128');

/**
 * Whether a port of a host answers: `{host, port, protocol, success}`.
 *
 * @param host a name or address
 * @param port the port
 * @param timeout seconds
 * @example tsalt-ssh '*' network.connect example.com 443
 */
export const connect = async (
  host: string,
  port: number,
  { timeout = 5 }: { timeout?: number; proto?: string } = {},
): Promise<{ result: boolean; comment: string }> =>
  new Promise(resolve => {
    const socket = createConnection({ host, port, timeout: timeout * 1000 });
    const end = (result: boolean, comment: string): void => {
      socket.destroy();
      resolve({ result, comment });
    };
    socket.once('connect', () =>
      end(true, `Successfully connected to ${host} on tcp port ${port}`),
    );
    socket.once('timeout', () =>
      end(false, `Unable to connect to ${host} on tcp port ${port}: timed out`),
    );
    socket.once('error', error =>
      end(false, `Unable to connect to ${host} on tcp port ${port}: ${error.message}`),
    );
  });

/**
 * The addresses of a name.
 *
 * @param host the name
 * @example tsalt-ssh '*' network.dig example.com
 */
export const dig = async (host: string): Promise<string> =>
  (await lookup(host, { all: true })).map(({ address }) => address).join('\n');

/**
 * The names of this machine's addresses, asked of DNS.
 *
 * @example tsalt-ssh '*' network.fqdns
 */
export const fqdns = async (): Promise<{ fqdns: string[] }> => {
  const all = [...(await ip_addrs()), ...(await ip_addrs6())];
  const names = await Promise.all(all.map(address => reverse(address).catch(() => [])));
  return { fqdns: [...new Set(names.flat())].sort() };
};

/**
 * The answer of `ping`.
 *
 * @param host a name or address
 * @param timeout seconds
 * @param return_boolean true: whether it answered
 * @example tsalt-ssh '*' network.ping example.com return_boolean=True
 */
export const ping = async (
  host: string,
  { timeout = 4, return_boolean = false }: { timeout?: number; return_boolean?: boolean } = {},
): Promise<string | boolean> => {
  const { code, stdout } = await runCommand(
    ['ping', '-c', '4', '-W', String(timeout), '--', host],
    {
      plainLocale: true,
      timeout: timeout * 4 + 5,
    },
  );
  return return_boolean ? code === 0 : stdout;
};

/**
 * The name of this machine.
 *
 * @example tsalt-ssh '*' network.get_hostname
 */
export const get_hostname = async (): Promise<string> => hostname();

/**
 * Gives this machine another name, now and after a reboot.
 *
 * @param name the name
 * @example tsalt-ssh 'web1' network.mod_hostname web1.example.com
 */
export const mod_hostname = async (name: string): Promise<boolean> => {
  if (!/^[A-Za-z0-9](?:[A-Za-z0-9.-]{0,62}[A-Za-z0-9])?$/.test(name))
    throw new SaltInvocationError(`Not a host name: ${name}`);
  const before = hostname();
  if (which('hostnamectl') && readOr('/proc/1/comm')?.trim() === 'systemd')
    await runChecked(['hostnamectl', 'set-hostname', name], { plainLocale: true, cwd: '/' });
  else {
    await replaceFile('/etc/hostname', `${name}\n`);
    await runChecked(['hostname', name], { plainLocale: true, cwd: '/' });
  }
  await renameInHosts(before, name);
  return true;
};

const renameInHosts = async (before: string, name: string): Promise<void> => {
  const text = await readFile('/etc/hosts', 'utf8').catch(() => '');
  const lines = text.split('\n').map(line => {
    if (/^\s*#/.test(line)) return line;
    return line
      .split(/(\s+)/)
      .map(word => (word === before ? name : word))
      .join('');
  });
  const renamed = lines.join('\n');
  if (renamed !== text && text !== '') await replaceFile('/etc/hosts', renamed);
};

/**
 * The default route, or that of IPv4 or IPv6.
 *
 * @param family `inet` or `inet6`
 * @example tsalt-ssh '*' network.default_route
 */
export const default_route = async (family: string | null = null): Promise<PlainDict[]> => {
  const families = family === null ? ['inet', 'inet6'] : [family];
  const routes: PlainDict[] = [];
  for (const one of families) {
    const flag = one === 'inet6' ? '-6' : '-4';
    const { stdout } = await runCommand(['ip', flag, 'route', 'show', 'default'], {
      plainLocale: true,
    });
    for (const line of stdout.split('\n')) {
      const value = (key: string): string => new RegExp(`\\b${key} (\\S+)`).exec(line)?.[1] ?? '';
      if (line.startsWith('default'))
        routes.push({
          addr_family: one,
          destination: one === 'inet' ? '0.0.0.0' : '::/0',
          gateway: value('via'),
          interface: value('dev'),
        });
    }
  }
  return routes;
};

/**
 * Whether a text is an IPv4 or IPv6 address.
 *
 * @param ip the text
 * @example tsalt-ssh '*' network.is_ip 10.0.0.1
 */
export const is_ip = async (ip: string): Promise<boolean> => parseAddress(ip) !== undefined;
