import { CommandExecutionError, type PlainDict, SaltInvocationError } from '../../api.ts';
import { parseAddress } from '../../lib/ip-address.ts';
import { runCommand } from '../../lib/run-command.ts';

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

/** Words behind their names: `via 10.0.0.1 dev eth0`. */
const words =
  (line: string): ((key: string) => string) =>
  key =>
    new RegExp(`\\b${key} (\\S+)`).exec(line)?.[1] ?? '';

/**
 * The routes, or those of IPv4 or IPv6.
 *
 * @param family `inet` or `inet6`
 * @example tsalt-ssh '*' network.routes
 */
export const routes = async (family: string | null = null): Promise<PlainDict[]> => {
  const found: PlainDict[] = [];
  for (const one of family === null ? ['inet', 'inet6'] : [family]) {
    const { stdout } = await runCommand(['ip', one === 'inet6' ? '-6' : '-4', 'route', 'show'], {
      plainLocale: true,
    });
    const anywhere = one === 'inet' ? '0.0.0.0/0' : '::/0';
    const alone = one === 'inet' ? '/32' : '/128';
    for (const line of stdout.split('\n').filter(text => text.trim() !== '')) {
      const [target = ''] = line.trim().split(/\s+/);
      const value = words(line);
      found.push({
        addr_family: one,
        destination:
          target === 'default' ? anywhere : target.includes('/') ? target : `${target}${alone}`,
        gateway: value('via'),
        interface: value('dev'),
        metric: value('metric'),
      });
    }
  }
  return found;
};

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
