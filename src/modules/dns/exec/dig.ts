/** DNS lookups with results in the format of `dig +short`. The program dig is not needed. */

import type { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { messageOf } from '../../../protocol/error.ts';
import { log } from '../../api.ts';
import { askDns } from '../query-dns.ts';

/**
 * Whether this is an IP address, or a network.
 *
 * @param addr the text
 *
 * @example tsalt-ssh '*' dig.check_ip 127.0.0.1
 */
export const check_ip = async (addr: string): Promise<boolean> => {
  const [address = '', prefix] = addr.split('/');
  const version = isIP(address);
  if (version === 0 || prefix === undefined) return version !== 0;
  const [least, most] = version === 4 ? [1, 32] : [8, 128];
  return /^\d+$/.test(prefix) && Number(prefix) >= least && Number(prefix) <= most;
};

/**
 * Returns the IPv4 addresses of a name. Like all functions here, it returns an empty list if no
 * server responds.
 *
 * @param host the name
 * @param nameserver the address of the server to ask; the system's when not given
 *
 * @example tsalt-ssh '*' dig.A www.example.com
 */
export const A = (host: string, nameserver: string | null = null): Promise<string[]> =>
  ask(host, nameserver, resolver => resolver.resolve4(host));

/**
 * Returns the IPv6 addresses of a name.
 *
 * @param host the name
 * @param nameserver the address of the server to ask; the system's when not given
 *
 * @example tsalt-ssh '*' dig.AAAA www.example.com
 */
export const AAAA = (host: string, nameserver: string | null = null): Promise<string[]> =>
  ask(host, nameserver, resolver => resolver.resolve6(host));

/**
 * Returns the names of an address.
 *
 * @param host the address
 * @param nameserver the address of the server to ask; the system's when not given
 *
 * @example tsalt-ssh '*' dig.PTR 192.0.2.1
 */
export const PTR = (host: string, nameserver: string | null = null): Promise<string[]> =>
  ask(host, nameserver, async resolver => (await resolver.reverse(host)).map(rooted));

/**
 * Returns the canonical name of an alias.
 *
 * @param host the name
 * @param nameserver the address of the server to ask; the system's when not given
 *
 * @example tsalt-ssh '*' dig.CNAME www.example.com
 */
export const CNAME = (host: string, nameserver: string | null = null): Promise<string[]> =>
  ask(host, nameserver, async resolver => (await resolver.resolveCname(host)).map(rooted));

/**
 * Returns the name servers of a zone.
 *
 * @param domain the zone
 * @param resolve their addresses; false: their names
 * @param nameserver the address of the server to ask; the system's when not given
 *
 * @example tsalt-ssh '*' dig.NS example.com resolve=false
 */
export const NS = async (
  domain: string,
  resolve = true,
  nameserver: string | null = null,
): Promise<string[]> => {
  const names = await ask(domain, nameserver, resolver => resolver.resolveNs(domain));
  if (!resolve) return names.map(rooted);
  return (await Promise.all(names.map(name => A(name, nameserver)))).flat();
};

/**
 * Returns the mail servers of a domain, each as its preference and its name.
 *
 * @param domain the domain
 * @param resolve return one address of each server instead of its name
 * @param nameserver the address of the server to ask; the system's when not given
 *
 * @example tsalt-ssh '*' dig.MX example.com
 */
export const MX = async (
  domain: string,
  resolve = false,
  nameserver: string | null = null,
): Promise<string[][]> => {
  const found = await ask(domain, nameserver, resolver => resolver.resolveMx(domain));
  return Promise.all(
    found.map(async ({ priority, exchange }) => {
      const [address = rooted(exchange)] = resolve ? await A(exchange, nameserver) : [];
      return [String(priority), address];
    }),
  );
};

/**
 * Returns the TXT records of a name, each in quotes.
 *
 * @param host the name
 * @param nameserver the address of the server to ask; the system's when not given
 *
 * @example tsalt-ssh '*' dig.TXT example.com
 */
export const TXT = (host: string, nameserver: string | null = null): Promise<string[]> =>
  ask(host, nameserver, async resolver =>
    (await resolver.resolveTxt(host)).map(parts => parts.map(part => `"${part}"`).join(' ')),
  );

/**
 * Returns the addresses and networks that the SPF record of a domain allows, including those of
 * included domains.
 *
 * @param domain the domain
 * @param _record `SPF` or `TXT`: the record stands under TXT in any case
 * @param nameserver the address of the server to ask; the system's when not given
 *
 * @example tsalt-ssh '*' dig.SPF example.com
 */
export const SPF = async (
  domain: string,
  _record = 'SPF',
  nameserver: string | null = null,
): Promise<string[]> => allowedBy(domain, nameserver, { left: mostLookups });

// RFC 7208 limits the total number of lookups, which also ends records that include themselves.
const mostLookups = 10;

const allowedBy = async (
  domain: string,
  nameserver: string | null,
  lookups: { left: number },
): Promise<string[]> => {
  if (lookups.left < 0) return [];
  lookups.left -= 1;
  const texts = await ask(domain, nameserver, async resolver =>
    (await resolver.resolveTxt(domain)).map(parts => parts.join('')),
  );
  const record = texts.find(text => /^v=spf1(?:\s|$)/.test(text)) ?? '';
  const [, first = '', ...others] = record.split(/\s+/);
  if (first.startsWith('redirect=')) return allowedBy(first.slice(9), nameserver, lookups);
  const found: string[] = [];
  for (const section of [first, ...others]) {
    const [, mechanism, address = ''] = /^[+~]?(ip[46]|include):(.+)/.exec(section) ?? [];
    if (mechanism === 'include') found.push(...(await allowedBy(address, nameserver, lookups)));
    else if (mechanism && (await check_ip(address))) found.push(address);
  }
  return found;
};

/** Alias of `dig.A`. */
export const a = A;
/** Alias of `dig.PTR`. */
export const ptr = PTR;
/** Alias of `dig.AAAA`. */
export const aaaa = AAAA;
/** Alias of `dig.CNAME`. */
export const cname = CNAME;
/** Alias of `dig.NS`. */
export const ns = NS;
/** Alias of `dig.SPF`. */
export const spf = SPF;
/** Alias of `dig.MX`. */
export const mx = MX;

/** Appends the root's dot to a name, like dig. */
const rooted = (name: string): string => `${name}.`;

const ask = async <T>(
  name: string,
  nameserver: string | null,
  how: (resolver: Resolver) => Promise<T[]>,
): Promise<T[]> => {
  try {
    return await askDns(name, nameserver, how);
  } catch (error) {
    log.warning(`${messageOf(error)} An empty list is given in place of it.`);
    return [];
  }
};
