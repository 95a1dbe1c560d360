import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { HostAddress } from '../known-hosts.ts';
import { cancelled, timedOut, unreachable } from '../unreachable.ts';
import type { Ssh2Options } from './options.ts';

/** An open way to a host. */
export type OpenWay = {
  readonly socket: Duplex;
  /** See `Connection`. */
  readonly isFar: boolean;
};

/** Milliseconds of a round trip from which on bytes take longer than their compression. */
const far = 10;

/**
 * Opens a way to a host, and measures a round trip: it takes at least the time in which this process
 * had nothing else to do. Other time may be its own, that of modules which it loads meanwhile.
 */
export const openWay = async (open: () => Promise<Duplex>): Promise<OpenWay> => {
  const before = performance.eventLoopUtilization().idle;
  const socket = await open();
  return { socket, isFar: performance.eventLoopUtilization().idle - before >= far };
};

/** Opens a TCP connection without Nagle's delay. */
export const tcp = (
  { host, port }: HostAddress,
  { family, localAddress, tcpKeepAlive }: Ssh2Options,
  seconds: number,
  where: string,
  signal?: AbortSignal,
): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect({
      host,
      port,
      noDelay: true,
      ...(family === undefined ? {} : { family }),
      ...(localAddress === undefined ? {} : { localAddress }),
      ...(tcpKeepAlive === undefined ? {} : { keepAlive: tcpKeepAlive }),
    });
    const timer = setTimeout(() => fail(timedOut(where, 'connection', seconds)), seconds * 1000);
    const abort = (): void => fail(cancelled(where));
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
      socket.removeListener('error', refuse);
    };
    const fail = (error: unknown): void => {
      done();
      socket.on('error', () => undefined);
      socket.destroy();
      reject(error);
    };
    const refuse = (error: Error): void => fail(unreachable(where, error));
    signal?.addEventListener('abort', abort, { once: true });
    socket.once('error', refuse);
    socket.once('connect', () => {
      done();
      resolve(socket);
    });
  });
