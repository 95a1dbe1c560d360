/**
 * Reads and changes the hosts file.
 *
 * @platform unix
 */

import { writeAtomic } from '../../_shared/files/atomic-write.ts';
import { existsSync, readFileSync } from '../../_shared/safe-fs/fs.ts';
import { followLinks } from '../../_shared/safe-fs/open-parent.ts';
import { refuseNewlines } from '../../_shared/text/one-line.ts';
import { __opts__ } from '../../api.ts';

type HostEntry = { aliases: string[]; comment?: string };

const file = (): string =>
  followLinks(typeof __opts__['hosts.file'] === 'string' ? __opts__['hosts.file'] : '/etc/hosts');

/**
 * The hosts file as data: names, and a comment, by address.
 *
 * @example tsalt-ssh '*' hosts.list_hosts
 */
export const list_hosts = async (): Promise<Record<string, HostEntry>> => {
  const hosts: Record<string, HostEntry> = {};
  for (const { ip, names, comment } of entries().flatMap(line => parse(line) ?? [])) {
    const known = hosts[ip] ?? { aliases: [] };
    hosts[ip] = {
      aliases: [...known.aliases, ...names],
      ...((comment ?? known.comment) !== undefined && { comment: comment ?? known.comment ?? '' }),
    };
  }
  return hosts;
};

/**
 * The address of a name; '' when it has none.
 *
 * @param host the name
 *
 * @example tsalt-ssh '*' hosts.get_ip db1
 */
export const get_ip = async (host: string): Promise<string> =>
  Object.entries(await list_hosts()).find(([, { aliases }]) => aliases.includes(host))?.[0] ?? '';

/**
 * The names of an address.
 *
 * @param ip the address
 *
 * @example tsalt-ssh '*' hosts.get_alias 10.0.0.1
 */
export const get_alias = async (ip: string): Promise<string[]> =>
  (await list_hosts())[ip]?.aliases ?? [];

/**
 * Whether an address has a name.
 *
 * @param ip the address
 * @param alias the name
 *
 * @example tsalt-ssh '*' hosts.has_pair 10.0.0.1 db1
 */
export const has_pair = async (ip: string, alias: string): Promise<boolean> =>
  (await get_alias(ip)).includes(alias);

/**
 * Sets the names of an address in the hosts file. Without names the address is removed.
 *
 * @param ip the address
 * @param alias the names, with blanks
 * @param comment the comment behind them; the one that is there when left out
 *
 * @example tsalt-ssh '*' hosts.set_host 10.0.0.1 'db1 db1.example.com'
 */
export const set_host = async (
  ip: string,
  alias: string,
  comment: string | null = null,
): Promise<boolean> => {
  refuseNewlines({ ip, alias, comment });
  const line = `${ip}\t\t${alias.trim()}`;
  const withComment = (text: string | null | undefined): string =>
    text ? `${line}\t\t# ${text}` : line;
  let placed = alias.trim() === '';
  const lines = entries().flatMap(each => {
    const entry = parse(each);
    if (entry?.ip !== ip) return [each];
    if (placed) return [];
    placed = true;
    return [withComment(comment ?? entry.comment)];
  });
  save(placed ? lines : [...lines, withComment(comment)]);
  return true;
};

/**
 * Adds a name to an address in the hosts file.
 *
 * @param ip the address
 * @param alias the name
 *
 * @example tsalt-ssh '*' hosts.add_host 10.0.0.1 db1
 */
export const add_host = async (ip: string, alias: string): Promise<boolean> => {
  const names = await get_alias(ip);
  if (names.includes(alias)) return true;
  return set_host(ip, [...names, alias].join(' '));
};

/**
 * Takes a name from an address.
 *
 * @param ip the address
 * @param alias the name
 *
 * @example tsalt-ssh '*' hosts.rm_host 10.0.0.1 db1
 */
export const rm_host = async (ip: string, alias: string): Promise<boolean> => {
  const names = await get_alias(ip);
  if (!names.includes(alias)) return true;
  return set_host(ip, names.filter(name => name !== alias).join(' '));
};

/**
 * Sets the comment behind an address.
 *
 * @param ip the address
 * @param comment the comment
 *
 * @example tsalt-ssh '*' hosts.set_comment 10.0.0.1 'the database'
 */
export const set_comment = async (ip: string, comment: string): Promise<boolean> => {
  refuseNewlines({ comment });
  const lines = entries();
  const at = lines.findIndex(line => parse(line)?.ip === ip);
  const entry = parse(lines[at] ?? '');
  if (!entry) return false;
  save(lines.with(at, `${ip}\t\t${entry.names.join(' ')}\t\t# ${comment}`));
  return true;
};

const entries = (): string[] =>
  existsSync(file()) ? readFileSync(file(), 'utf8').replace(/\n$/, '').split('\n') : [];

const save = (lines: string[]): void => {
  writeAtomic(file(), lines.map(line => `${line}\n`).join(''));
};

const parse = (line: string): { ip: string; names: string[]; comment?: string } | undefined => {
  const [data = '', ...rest] = line.split('#');
  const [ip, ...names] = data.trim().split(/\s+/);
  if (!ip) return undefined;
  const comment = rest.join('#').trim();
  return { ip, names, ...(comment !== '' && { comment }) };
};
