/** DNS lookups, hosts files, zone files, and serial numbers of zones. */

import { messageOf } from '../../../protocol/error.ts';
import type { PlainDict } from '../../../protocol/plain.ts';
import { readOr } from '../../_shared/files/read-file.ts';
import { replaceFile } from '../../_shared/files/write-file.ts';
import { readFileSync } from '../../_shared/safe-fs/fs.ts';
import { __grains__, __salt__, CommandExecutionError } from '../../api.ts';
import { askDns } from '../query-dns.ts';
import { parseZone } from '../zone-file.ts';
import * as dig from './dig.ts';

/**
 * Returns the serial number of a zone: the date and two digits. It is stored in the grain
 * `dnsserial`, or `dnsserial_<zone>`.
 *
 * @param zone a zone with its own number
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
 * Whether this is an IP address, or a network.
 *
 * @param ip_addr the text
 *
 * @example tsalt-ssh '*' dnsutil.check_ip 127.0.0.1
 */
export const check_ip = (ip_addr: string): Promise<boolean> => dig.check_ip(ip_addr);

/**
 * Returns the names of each address in a hosts file. Lines with the same address are combined.
 *
 * @param hostsfile path of the file
 * @param hosts content to parse instead of a file
 *
 * @example tsalt-ssh '*' dnsutil.parse_hosts
 */
export const parse_hosts = async (
  hostsfile = '/etc/hosts',
  hosts: string | null = null,
): Promise<Record<string, string[]> | string> => {
  const text = hosts || readOr(hostsfile);
  if (text === undefined) return 'Error: hosts data was not found';
  const found: Record<string, string[]> = {};
  for (const line of text.split('\n')) {
    const [address, ...names] = line.split(/\s+/).filter(Boolean);
    if (address === undefined || line.startsWith('#')) continue;
    found[address] = [...(found[address] ?? []), ...names];
  }
  return found;
};

/**
 * Adds a line with an address and names to a hosts file. Leaves out names that the address already
 * has. Returns the added line.
 *
 * @param hostsfile path of the file
 * @param ip_addr the address
 * @param entries names, separated by commas
 *
 * @example tsalt-ssh '*' dnsutil.hosts_append /etc/hosts 192.0.2.1 ad1.example.com,ad2.example.com
 */
export const hosts_append = async (
  hostsfile: string,
  ip_addr: string,
  entries: string,
): Promise<string> => {
  const known = await parse_hosts(hostsfile);
  const own = typeof known === 'string' ? [] : (known[ip_addr] ?? []);
  const names = entries.split(',').filter(name => !own.includes(name));
  if (names.length === 0) return `No additional hosts were added to ${hostsfile}`;
  const line = `${ip_addr} ${names.join(' ')}`;
  const text = readOr(hostsfile) ?? '';
  await replaceFile(hostsfile, `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${line}\n`);
  return `The following line was added to ${hostsfile}:\n${line}`;
};

/**
 * Removes names from a hosts file, and lines that no name is left in. All other lines stay as they
 * are.
 *
 * @param hostsfile path of the file
 * @param entries names, separated by commas
 *
 * @example tsalt-ssh '*' dnsutil.hosts_remove /etc/hosts ad2.example.com,ad1.example.com
 */
export const hosts_remove = async (hostsfile: string, entries: string): Promise<null> => {
  const gone = new Set(entries.split(','));
  const lines = contentOf(hostsfile).split('\n');
  const left = lines.flatMap(line => {
    const [address, ...names] = line.split(/\s+/).filter(Boolean);
    if (address === undefined || address.startsWith('#')) return [line];
    const kept = names.filter(name => !gone.has(name));
    if (kept.length === names.length) return [line];
    return kept.length > 0 && kept[0]?.startsWith('#') !== true
      ? [[address, ...kept].join(' ')]
      : [];
  });
  if (left.join('\n') !== lines.join('\n')) await replaceFile(hostsfile, left.join('\n'));
  return null;
};

const contentOf = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new CommandExecutionError(`The file ${path} cannot be read: ${messageOf(error)}`);
  }
};

/**
 * Returns the records of a zone file: parts of the SOA by name, `NS` and `MX` as lists, all other
 * types as dicts by host name.
 *
 * @param zonefile path of the file
 * @param zone content to parse instead of a file
 *
 * @example tsalt-ssh ns1 dnsutil.parse_zone /var/lib/named/example.com.zone
 */
export const parse_zone = async (
  zonefile: string | null = null,
  zone: string | null = null,
): Promise<PlainDict | string> => {
  const text = (zonefile ? readOr(zonefile) : undefined) ?? zone;
  return text ? parseZone(text) : 'Error: Zone data was not found';
};

/**
 * Returns the IPv4 addresses of a name.
 *
 * @param host the name
 * @param nameserver the address of the server to ask; the system's when not given
 *
 * @example tsalt-ssh '*' dnsutil.A www.example.com
 */
export const A = (host: string, nameserver: string | null = null): Promise<string[]> =>
  askDns(host, nameserver, resolver => resolver.resolve4(host));

/**
 * Returns the IPv6 addresses of a name.
 *
 * @param host the name
 * @param nameserver the address of the server to ask; the system's when not given
 *
 * @example tsalt-ssh '*' dnsutil.AAAA www.example.com
 */
export const AAAA = (host: string, nameserver: string | null = null): Promise<string[]> =>
  askDns(host, nameserver, resolver => resolver.resolve6(host));

/**
 * Returns the name servers of a zone.
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
 * Returns the mail servers of a domain, the preferred ones first.
 *
 * @param domain the domain
 * @param resolve return one address of each server instead of its name
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

/**
 * Returns the addresses and networks that the SPF record of a domain allows, including those of
 * included domains.
 *
 * @param domain the domain
 * @param record `SPF` or `TXT`: the record stands under TXT in any case
 * @param nameserver the address of the server to ask; the system's when not given
 *
 * @example tsalt-ssh '*' dnsutil.SPF example.com
 */
export const SPF = (
  domain: string,
  record = 'SPF',
  nameserver: string | null = null,
): Promise<string[]> => dig.SPF(domain, record, nameserver);
