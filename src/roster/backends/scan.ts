import { connect, isIPv4 } from 'node:net';
import { TsaltError } from '../../protocol/error.ts';
import type { RosterRequest } from '../load.ts';
import type { BackendHosts, Entry } from '../roster.ts';

const largest = 65_536;
const atOnce = 128;

/** Salt's `scan`: addresses of `10.0.0.0/24` (or `10.0.0.0/24:2222`) that answer at an SSH port. */
export const scan = async (
  source: string,
  { scan: given = {} }: Pick<RosterRequest, 'scan'>,
): Promise<BackendHosts> => {
  const { addresses, port } = parseScanNetwork(source);
  const ports = port === undefined ? (given.ports ?? [22]) : [port];
  const patience = (given.seconds ?? 1) * 1000;
  const found = new Map<string, number>();
  const left = [...addresses].reverse();
  const worker = async (): Promise<void> => {
    for (let address = left.pop(); address !== undefined; address = left.pop())
      for (const each of ports)
        if (!found.has(address) && (await answers(address, each, patience)))
          found.set(address, each);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, left.length) }, worker));
  return {
    entries: addresses.flatMap((address): Entry[] => {
      const open = found.get(address);
      if (open === undefined) return [];
      const value = new Map<string, string | number>([['host', address]]);
      if (open !== 22) value.set('port', open);
      return [{ id: address, value: new Map(value), file: source }];
    }),
  };
};

/**
 * The addresses of an IPv4 network without its own and the broadcast address.
 *
 * @throws TsaltError `roster-network`
 */
export const parseScanNetwork = (source: string): { addresses: string[]; port?: number } => {
  const [, address = '', bits = '32', port] =
    /^([\d.]+)(?:\/(\d{1,2}))?(?::(\d{1,5}))?$/.exec(source.trim()) ?? [];
  const size = 2 ** (32 - Number(bits));
  if (!isIPv4(address) || Number(bits) > 32 || !isPort(Number(port ?? 22)))
    throw new TsaltError('roster-network', `'${source}' is not a network like 10.0.0.0/24.`);
  if (size > largest)
    throw new TsaltError('roster-network', `The network ${source} has ${size} addresses.`, {
      hint: `Scan at most ${largest} at a time (/16).`,
    });
  const number = address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
  const first = number - (number % size);
  const edge = size > 2 ? 1 : 0;
  return {
    ...(port === undefined ? {} : { port: Number(port) }),
    addresses: Array.from({ length: size - 2 * edge }, (_, at) => dotted(first + edge + at)),
  };
};

const isPort = (port: number): boolean => port >= 1 && port <= 65_535;

const dotted = (number: number): string =>
  [24, 16, 8, 0].map(shift => Math.floor(number / 2 ** shift) % 256).join('.');

const answers = (host: string, port: number, patience: number): Promise<boolean> =>
  new Promise(resolve => {
    const socket = connect({ host, port });
    const end = (open: boolean): void => {
      socket.destroy();
      resolve(open);
    };
    socket.setTimeout(patience, () => end(false));
    socket.once('connect', () => end(true));
    socket.once('error', () => end(false));
  });
