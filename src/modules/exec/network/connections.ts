import { createConnection } from 'node:net';
import { SaltInvocationError } from '../../api.ts';
import { runCommand } from '../../lib/run-command.ts';

/**
 * Whether a port of a host answers: `{host, port, protocol, success}`.
 *
 * @param host a name or address
 * @param port the port
 * @param timeout seconds
 * @param proto tcp is the only value
 * @example tsalt-ssh '*' network.connect example.com 443
 */
export const connect = async (
  host: string,
  port: number,
  { timeout = 5, proto = 'tcp' }: { timeout?: number; proto?: string } = {},
): Promise<{ result: boolean; comment: string }> => {
  if (proto !== 'tcp')
    throw new SaltInvocationError(`The protocol '${proto}' is not supported: only tcp answers.`);
  return new Promise(resolve => {
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

type Socket = { proto: string; 'local-address': string; 'remote-address': string; state: string };

/** The sockets of IPv4 and IPv6, as `ss` lists them. */
const sockets = async (...flags: string[]): Promise<Socket[]> => {
  const { stdout } = await runCommand(['ss', '-H', '-n', '-t', ...flags], { plainLocale: true });
  return stdout.split('\n').flatMap(line => {
    const columns = line.trim().split(/\s+/);
    const isUdp = columns[0] === 'tcp' || columns[0] === 'udp';
    const [state, , , local, remote] = isUdp ? columns.slice(1) : columns;
    if (state === undefined || local === undefined || remote === undefined) return [];
    return [
      {
        proto: isUdp ? (columns[0] ?? '') : 'tcp',
        'local-address': local,
        'remote-address': remote,
        state,
      },
    ];
  });
};

/**
 * The sockets of this machine: protocol, addresses, state.
 *
 * @example tsalt-ssh '*' network.netstat
 */
export const netstat = async (): Promise<Socket[]> => sockets('-u', '-a');

/**
 * The TCP connections that stand.
 *
 * @example tsalt-ssh '*' network.active_tcp
 */
export const active_tcp = async (): Promise<Record<string, Record<string, string>>> => {
  const split = (address: string): [string, string] => {
    const at = address.lastIndexOf(':');
    return [address.slice(0, at).replace(/^\[|\]$/g, ''), address.slice(at + 1)];
  };
  const standing = (await sockets()).filter(({ state }) => state === 'ESTAB');
  return Object.fromEntries(
    standing.map(({ 'local-address': local, 'remote-address': remote }, at) => [
      String(at),
      {
        local_addr: split(local)[0],
        local_port: split(local)[1],
        remote_addr: split(remote)[0],
        remote_port: split(remote)[1],
      },
    ]),
  );
};
