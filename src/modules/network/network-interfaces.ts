import { networkInterfaces } from 'node:os';
import { runCommand } from '../_shared/commands/run-command.ts';
import { which } from '../_shared/commands/which.ts';
import { readOr } from '../_shared/files/read-file.ts';
import { isInNetwork, netmaskOf, parseAddress } from '../_shared/text/ip-address.ts';

export type Address4 = {
  readonly address: string;
  readonly netmask: string;
  readonly broadcast: string | null;
  readonly label: string;
};
export type Address6 = {
  readonly address: string;
  readonly prefixlen: string;
  readonly scope: string | null;
};
export type Interface = {
  readonly up: boolean;
  readonly hwaddr?: string;
  readonly parent?: string;
  readonly inet?: Address4[];
  readonly inet6?: Address6[];
  readonly secondary?: ((Address4 & { type: 'inet' }) | (Address6 & { type: 'inet6' }))[];
};

/** All interfaces by name, as `ip` lists them; without `ip`, only those with addresses. */
export const readInterfaces = async (): Promise<Record<string, Interface>> => {
  if (!which('ip')) return fromNode();
  const { stdout } = await runCommand(['ip', 'addr', 'show'], { plainLocale: true, cwd: '/' });
  return parseInterfaces(stdout);
};

/** Reads what `ip addr show` prints. */
export const parseInterfaces = (text: string): Record<string, Interface> =>
  Object.fromEntries(
    text.split(/\n(?=\d)/).flatMap(group => {
      const [head = '', ...lines] = group.split('\n');
      const [, name, parent, flags = ''] =
        head.match(/^\d+:\s+([^\s:@]+)(?:@(\S+))?:\s+<(.*)>/) ?? [];
      if (name === undefined) return [];
      const words = lines.map(line => line.trim().split(/\s+/));
      const hwaddr = words.find(([kind]) => kind?.startsWith('link/'))?.[1];
      const rows = words.filter(([kind]) => kind === 'inet' || kind === 'inet6');
      const first = rows.filter(row => !row.includes('secondary'));
      const inet = first.filter(([kind]) => kind === 'inet').map(toInet);
      const inet6 = first.filter(([kind]) => kind === 'inet6').map(toInet6);
      const secondary = rows
        .filter(row => row.includes('secondary'))
        .map(row =>
          row[0] === 'inet'
            ? { type: 'inet' as const, ...toInet(row) }
            : { type: 'inet6' as const, ...toInet6(row) },
        );
      const facts: Interface = {
        up: flags.split(',').includes('UP'),
        ...(parent ? { parent } : {}),
        ...(hwaddr ? { hwaddr } : {}),
        ...(inet.length > 0 ? { inet } : {}),
        ...(inet6.length > 0 ? { inet6 } : {}),
        ...(secondary.length > 0 ? { secondary } : {}),
      };
      return [[name, facts]];
    }),
  );

/** The word behind another: `brd 192.0.2.255`. */
const after = (row: readonly string[], word: string): string | null =>
  row.includes(word) ? (row[row.indexOf(word) + 1] ?? null) : null;

const toInet = (row: readonly string[]): Address4 => {
  const [address = '', prefix = '32'] = (row[1] ?? '').split('/');
  return {
    address,
    netmask: netmaskOf(32, Number(prefix)),
    broadcast: after(row, 'brd'),
    label: row.at(-1) ?? '',
  };
};

const toInet6 = (row: readonly string[]): Address6 => {
  const [address = '', prefixlen = '128'] = (row[1] ?? '').split('/');
  return { address, prefixlen, scope: after(row, 'scope') };
};

const fromNode = (): Record<string, Interface> =>
  Object.fromEntries(
    Object.entries(networkInterfaces()).map(([name, entries = []]) => [
      name,
      {
        up: readOr(`/sys/class/net/${name}/operstate`)?.trim() !== 'down',
        hwaddr: entries[0]?.mac ?? '',
        inet: entries
          .filter(({ family }) => family === 'IPv4')
          .map(({ address, netmask }) => ({ address, netmask, broadcast: null, label: name })),
        inet6: entries
          .filter(({ family }) => family === 'IPv6')
          .map(({ address, cidr }) => ({
            address,
            prefixlen: cidr?.split('/')[1] ?? '',
            scope: null,
          })),
      },
    ]),
  );

/** The addresses of one kind, each with its netmask or prefix length. */
export const addressesOf = (
  { inet = [], inet6 = [], secondary = [] }: Interface,
  kind: 'inet' | 'inet6',
): { address: string; mask: string }[] => {
  const more = secondary.filter(({ type }) => type === kind);
  return [...(kind === 'inet' ? inet : inet6), ...more].map(one => ({
    address: one.address,
    mask: 'netmask' in one ? one.netmask : one.prefixlen,
  }));
};

/** The numeric order of addresses. */
export const byAddress = (left: string, right: string): number => {
  const difference = (parseAddress(left)?.value ?? 0n) - (parseAddress(right)?.value ?? 0n);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
};

export const isLoopback = (address: string): boolean =>
  isInNetwork(address, '127.0.0.0/8') || isInNetwork(address, '::1/128');
