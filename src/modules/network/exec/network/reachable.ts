import { createSocket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import { createConnection, isIP } from 'node:net';
import { runChecked, runCommand } from '../../../_shared/commands/run-command.ts';
import { CommandExecutionError, type PlainDict, SaltInvocationError } from '../../../api.ts';

/** A name or address: nothing that a program would take for an option, or a shell for more. */
const plainHost = (host: string): string => {
  if (!/^[A-Za-z0-9_:%][A-Za-z0-9_.:%-]*$/.test(host))
    throw new SaltInvocationError(`Not a host name or address: ${host}`);
  return host;
};

/**
 * Whether a port of a host answers: `result` and a `comment`.
 *
 * @param host a name or address
 * @param port the port, or the name of a service
 * @param timeout seconds
 * @param proto `tcp`, or `udp`: something must come back then
 * @param family `ipv4` or `ipv6`
 * @example tsalt-ssh '*' network.connect example.com 443
 */
export const connect = async (
  host: string,
  port: string | number | null = null,
  {
    timeout = 5,
    proto = 'tcp',
    family = null,
  }: { timeout?: number; proto?: string; family?: string | null } = {},
): Promise<{ result: boolean; comment: string }> => {
  if (!host) return { result: false, comment: 'Required argument, host, is missing.' };
  if (!port) return { result: false, comment: 'Required argument, port, is missing.' };
  const kind = proto === 'udp' ? 'udp' : 'tcp';
  const version = family === 'ipv4' ? 4 : family === 'ipv6' ? 6 : 0;
  const number = await portNumber(port, kind);
  const isOther = version !== 0 && isIP(host) !== 0 && isIP(host) !== version;
  const address = isIP(host)
    ? host
    : await lookup(plainHost(host), { family: version }).then(
        found => found.address,
        () => undefined,
      );
  if (address === undefined || number === undefined || isOther)
    return { result: false, comment: `Unable to resolve host ${host} on ${kind} port ${port}` };
  const where = `${host} (${address}) on ${kind} port ${port}`;
  const answers =
    kind === 'udp' ? replies(address, number, timeout) : accepts(address, number, timeout);
  return (await answers)
    ? { result: true, comment: `Successfully connected to ${where}` }
    : { result: false, comment: `Unable to connect to ${where}` };
};

/** A port by its number, or by the name that this host's services have. */
const portNumber = async (
  port: string | number,
  kind: 'tcp' | 'udp',
): Promise<number | undefined> => {
  const named = /^\d+$/.test(String(port))
    ? String(port)
    : /\s(\d+)\//.exec(
        (await runCommand(['getent', 'services', '--', `${port}/${kind}`])).stdout,
      )?.[1];
  return named === undefined || Number(named) > 65_535 ? undefined : Number(named);
};

const accepts = (host: string, port: number, timeout: number): Promise<boolean> =>
  new Promise(resolve => {
    const socket = createConnection({ host, port, timeout: timeout * 1000 });
    const end = (result: boolean): void => {
      socket.destroy();
      resolve(result);
    };
    socket.once('connect', () => end(true));
    socket.once('timeout', () => end(false));
    socket.once('error', () => end(false));
  });

const replies = (host: string, port: number, timeout: number): Promise<boolean> =>
  new Promise(resolve => {
    const socket = createSocket(isIP(host) === 6 ? 'udp6' : 'udp4');
    const end = (result: boolean): void => {
      clearTimeout(timer);
      socket.close();
      resolve(result);
    };
    const timer = setTimeout(() => end(false), timeout * 1000);
    socket.once('message', () => end(true));
    socket.once('error', () => end(false));
    socket.connect(port, host, () => socket.send('tsalt-ssh'));
  });

/**
 * The answer of `ping`.
 *
 * @param host a name or address
 * @param timeout seconds to wait for each of four answers
 * @param return_boolean true: whether it answered
 * @example tsalt-ssh '*' network.ping example.com return_boolean=True
 */
export const ping = async (
  host: string,
  {
    timeout = 4,
    return_boolean = false,
  }: { timeout?: number | false; return_boolean?: boolean } = {},
): Promise<string | boolean> => {
  const seconds = timeout === false ? 4 : timeout;
  const { code, stdout, stderr } = await runCommand(
    ['ping', '-W', String(seconds), '-c', '4', '--', plainHost(host)],
    { plainLocale: true, timeout: seconds * 4 + 10 },
  );
  return return_boolean ? code === 0 : `${stdout}${stderr}`.trim();
};

/**
 * Returns the route to a host, from `traceroute`: `count`, `hostname`, `ip`, `ms1`, `ms2`, `ms3`.
 *
 * @param host a name or address
 * @example tsalt-ssh '*' network.traceroute example.com
 */
export const traceroute = async (host: string): Promise<PlainDict[]> => {
  const { stdout } = await runChecked(['traceroute', plainHost(host)], {
    plainLocale: true,
    timeout: 300,
  });
  return parseTraceroute(stdout);
};

/** Reads what `traceroute` prints: a line for each machine on the way. */
export const parseTraceroute = (text: string): PlainDict[] =>
  text.split('\n').flatMap(line => {
    const [, count, rest = ''] = line.match(/^\s*(\d+)\s+(.*)$/) ?? [];
    if (count === undefined) return [];
    const [, hostname, ip] = rest.match(/^(\S+)\s+\(([^)]*)\)/) ?? [];
    if (hostname === undefined) return [{ count: Number(count), hostname: '*' }];
    const delays = [...rest.matchAll(/([\d.]+)\s*ms/g)].map(([, delay]) => Number(delay));
    return [
      {
        count: Number(count),
        hostname,
        ip: ip ?? '',
        ...Object.fromEntries(delays.map((delay, at) => [`ms${at + 1}`, delay])),
      },
    ];
  });

/**
 * Wakes a machine of the same network: sends it a magic packet.
 *
 * @param mac its hardware address
 * @param bcast where the packet goes
 * @param destport its port
 * @example tsalt-ssh '*' network.wol 08:00:27:13:69:77
 */
export const wol = async (
  mac: string,
  bcast = '255.255.255.255',
  destport = 9,
): Promise<boolean> => {
  const digits = /^(?:[0-9a-f]{2}([^0-9a-f]))(?:[0-9a-f]{2}\1){4}[0-9a-f]{2}$/i.test(mac)
    ? mac.replace(/[^0-9a-f]/gi, '')
    : mac;
  if (!/^[0-9a-f]{12}$/i.test(digits)) throw new SaltInvocationError(`Invalid MAC address: ${mac}`);
  const address = Buffer.from(digits, 'hex');
  const packet = Buffer.concat([
    Buffer.alloc(6, 0xff),
    ...Array.from({ length: 16 }, () => address),
  ]);
  await new Promise<void>((resolve, reject) => {
    const socket = createSocket('udp4');
    socket.once('error', cause => {
      socket.close();
      reject(new CommandExecutionError(`Cannot send to ${bcast}: ${cause.message}.`, { cause }));
    });
    socket.bind(() => {
      socket.setBroadcast(true);
      socket.send(packet, destport, bcast, () => {
        socket.close();
        resolve();
      });
    });
  });
  return true;
};
