import { runCommand } from '../../../_shared/commands/run-command.ts';
import { netmaskOf, parseAddress } from '../../../_shared/text/ip-address.ts';
import { CommandExecutionError, type PlainDict, SaltInvocationError } from '../../../api.ts';

type Route = {
  addr_family: 'inet' | 'inet6';
  destination: string;
  gateway: string;
  netmask: string;
  flags: string;
  interface: string;
};

const familiesOf = (family: string | null): ('inet' | 'inet6')[] => {
  if (family === null) return ['inet', 'inet6'];
  if (family === 'inet' || family === 'inet6') return [family];
  throw new CommandExecutionError(`Invalid address family ${family}`);
};

/**
 * The routes, or those of IPv4 or IPv6: `destination`, `gateway`, `netmask`, `flags`, `interface`.
 *
 * @param family `inet` or `inet6`
 * @example tsalt-ssh '*' network.routes inet
 */
export const routes = async (family: string | null = null): Promise<Route[]> => {
  const found: Route[] = [];
  for (const one of familiesOf(family)) {
    const { stdout } = await runCommand(['ip', one === 'inet6' ? '-6' : '-4', 'route', 'show'], {
      plainLocale: true,
      cwd: '/',
    });
    found.push(...stdout.split('\n').flatMap(line => parseRoute(line, one)));
  }
  return found;
};

/** Kinds of routes that lead nowhere, or are not for one machine. */
const others =
  /^(?:unreachable|broadcast|throw|prohibit|blackhole|nat|anycast|multicast|local|unicast)\b/;

const parseRoute = (line: string, family: 'inet' | 'inet6'): Route[] => {
  const [target = ''] = line.trim().split(/\s+/);
  if (target === '' || /^\s/.test(line) || others.test(line)) return [];
  const value = words(line);
  const gateway = value('via').replace(/^inet6$/, '');
  const [address = '', prefix] = target === 'default' ? [] : target.split('/');
  const isV4 = family === 'inet';
  return [
    {
      addr_family: family,
      destination: isV4
        ? address || '0.0.0.0'
        : address === ''
          ? '::/0'
          : `${address}/${prefix ?? '128'}`,
      gateway: gateway || (isV4 ? '0.0.0.0' : '::'),
      netmask: isV4 ? netmaskOf(32, address === '' ? 0 : Number(prefix ?? 32)) : '',
      flags: gateway === '' ? 'U' : 'UG',
      interface: value('dev'),
    },
  ];
};

/**
 * The default route, or that of IPv4 or IPv6.
 *
 * @param family `inet` or `inet6`
 * @example tsalt-ssh '*' network.default_route
 */
export const default_route = async (family: string | null = null): Promise<Route[]> =>
  (await routes(family)).filter(({ destination }) => ['0.0.0.0', '::/0'].includes(destination));

/** Words behind their names: `via 10.0.0.1 dev eth0`. */
const words =
  (line: string): ((key: string) => string) =>
  key =>
    new RegExp(`\\b${key} (\\S+)`).exec(line)?.[1] ?? '';

/**
 * The way to an address: destination, gateway, interface, source.
 *
 * @param ip the address
 * @example tsalt-ssh '*' network.get_route 10.10.10.10
 */
export const get_route = async (ip: string): Promise<PlainDict> => {
  if (parseAddress(ip) === undefined) throw new SaltInvocationError(`Not an IP address: ${ip}`);
  const { code, stdout, stderr } = await runCommand(['ip', 'route', 'get', ip], {
    plainLocale: true,
  });
  if (code !== 0) throw new CommandExecutionError(stderr.trim());
  const value = words(stdout.split('\n')[0] ?? '');
  return {
    destination: ip,
    gateway: value('via') || null,
    interface: value('dev') || null,
    source: value('src') || null,
  };
};

/**
 * The neighbours this machine has talked to: addresses by hardware address.
 *
 * @example tsalt-ssh '*' network.arp
 */
export const arp = async (): Promise<PlainDict> => {
  const { stdout } = await runCommand(['ip', 'neigh', 'show'], { plainLocale: true });
  return Object.fromEntries(
    stdout.split('\n').flatMap(line => {
      const hardware = words(line)('lladdr');
      return hardware === '' ? [] : [[hardware, line.split(' ')[0] ?? '']];
    }),
  );
};
