/** Answers of name servers, and serial numbers of zones. */

import { isIP } from 'node:net';
import { __grains__, __salt__ } from '../api.ts';
import { askDns } from '../lib/ask-dns.ts';

/**
 * The serial number of a zone: the date and two digits. It is kept in the grain `dnsserial`, or
 * `dnsserial_<zone>`.
 *
 * @param zone a zone with a number of its own
 * @param update keep the next number: today's first, or one more than the number kept
 *
 * @example tsalt-ssh ns1 dnsutil.serial example.com update=True
 */
export const serial = async (zone = '', update = false): Promise<string> => {
  const key = zone === '' ? 'dnsserial' : `dnsserial_${zone}`;
  const kept = __grains__[key];
  const stored = kept === undefined || kept === null ? '' : String(kept);
  const date = new Date();
  const two = (part: number): string => String(part).padStart(2, '0');
  const today = `${date.getFullYear()}${two(date.getMonth() + 1)}${two(date.getDate())}01`;
  if (!update) return stored || today;
  const next = stored >= today ? String(BigInt(stored) + 1n) : today;
  await __salt__['grains.setval']?.(key, next);
  return next;
};

/**
 * Whether this is an IP address.
 *
 * @param ip_addr the text
 *
 * @example tsalt-ssh '*' dnsutil.check_ip 127.0.0.1
 */
export const check_ip = (ip_addr: string): boolean => isIP(ip_addr) !== 0;

/**
 * The IPv4 addresses of a name.
 *
 * @param host the name
 * @param nameserver the address of the server to ask; the system's when not given
 *
 * @example tsalt-ssh '*' dnsutil.A www.example.com
 */
export const A = (host: string, nameserver: string | null = null): Promise<string[]> =>
  askDns(host, nameserver, resolver => resolver.resolve4(host));

/**
 * The IPv6 addresses of a name.
 *
 * @param host the name
 * @param nameserver the address of the server to ask; the system's when not given
 *
 * @example tsalt-ssh '*' dnsutil.AAAA www.example.com
 */
export const AAAA = (host: string, nameserver: string | null = null): Promise<string[]> =>
  askDns(host, nameserver, resolver => resolver.resolve6(host));

/**
 * The name servers of a zone.
 *
 * @param domain the zone
 * @param resolve their addresses; false: their names
 * @param nameserver the address of the server to ask; the system's when not given
 *
 * @example tsalt-ssh '*' dnsutil.NS example.com
 */
export const NS = (
  domain: string,
  resolve = true,
  nameserver: string | null = null,
): Promise<string[]> =>
  askDns(domain, nameserver, async resolver => {
    const names = await resolver.resolveNs(domain);
    return resolve ? (await Promise.all(names.map(name => resolver.resolve4(name)))).flat() : names;
  });

/**
 * The mail servers of a domain, the preferred ones first.
 *
 * @param domain the domain
 * @param resolve one address of each in place of its name
 * @param nameserver the address of the server to ask; the system's when not given
 *
 * @example tsalt-ssh '*' dnsutil.MX example.com
 */
export const MX = async (
  domain: string,
  resolve = false,
  nameserver: string | null = null,
): Promise<[number, string][]> =>
  askDns(domain, nameserver, async resolver => {
    const found = await resolver.resolveMx(domain);
    found.sort((one, other) => one.priority - other.priority);
    return Promise.all(
      found.map(async ({ priority, exchange }): Promise<[number, string]> => {
        const [address = exchange] = resolve ? await resolver.resolve4(exchange) : [];
        return [priority, address];
      }),
    );
  });
