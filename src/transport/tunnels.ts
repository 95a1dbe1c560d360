import { connect as connectSocket } from 'node:net';
import type { Client } from 'ssh2';
import { TsaltError } from '../protocol/error.ts';
import { readable } from './unreachable.ts';

/** `[bind:]port:host:hostport`, as OpenSSH's `-R`. */
export type Tunnel = {
  readonly bind: string;
  readonly port: number;
  readonly host: string;
  readonly hostPort: number;
};

/** @throws {TsaltError} for a malformed tunnel */
export const parseTunnel = (text: string): Tunnel => {
  const match =
    /^(?:(\[[0-9a-fA-F:.]+\]|[\w.*-]*):)?(\d{1,5}):(\[[0-9a-fA-F:.]+\]|\w[\w.-]*):(\d{1,5})$/.exec(
      text,
    );
  const port = Number(match?.[2]);
  const hostPort = Number(match?.[4]);
  if (!match || port < 1 || port > 65_535 || hostPort < 1 || hostPort > 65_535)
    throw new TsaltError(
      'tunnel',
      `"${readable(text, 80)}" is not a tunnel of the form PORT:HOST:HOSTPORT.`,
    );
  const bare = (address = ''): string => address.replace(/^\[|\]$/g, '');
  return {
    // Without an address ssh listens on loopback only.
    bind: match[1] === undefined ? 'localhost' : bare(match[1]).replace('*', ''),
    port,
    host: bare(match[3]),
    hostPort,
  };
};

/**
 * Opens `remote_port_forwards` on a connection: connections to the port on the host are forwarded
 * to the address as seen from this machine.
 * @throws {TsaltError} kind `host` if the host refuses one
 */
export const openTunnels = async (
  client: Client,
  texts: readonly string[],
  where: string,
): Promise<void> => {
  const tunnels = texts.map(parseTunnel);
  client.on('tcp connection', ({ destPort }, accept, reject) => {
    const tunnel = tunnels.find(({ port }) => port === destPort);
    if (!tunnel) return reject();
    const socket = connectSocket({ host: tunnel.host, port: tunnel.hostPort });
    socket.once('error', () => reject());
    socket.once('connect', () => {
      const channel = accept();
      socket.removeAllListeners('error');
      socket.on('error', () => channel.destroy());
      channel.on('error', () => socket.destroy());
      channel.on('close', () => socket.destroy());
      socket.pipe(channel).pipe(socket);
    });
  });
  await Promise.all(
    tunnels.map(
      ({ bind, port }, at) =>
        new Promise<void>((resolve, reject) => {
          client.forwardIn(bind, port, error =>
            error ? reject(refused(where, texts[at] ?? '', error)) : resolve(),
          );
        }),
    ),
  );
};

const refused = (where: string, text: string, error: Error): TsaltError =>
  new TsaltError('tunnel', `${where}: the host refuses the tunnel ${text}.`, {
    kind: 'host',
    excerpt: readable(error.message, 300),
    hint: 'The port may be taken there, or sshd may forbid it (AllowTcpForwarding, PermitListen).',
  });
