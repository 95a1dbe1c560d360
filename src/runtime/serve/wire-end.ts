import { messageOf } from '../../protocol/error.ts';
import type { Peer } from '../../protocol/peer.ts';
import { positionsOf } from '../../protocol/stack.ts';
import type { Wire } from '../wire.ts';
import type { Outbox } from './outbox.ts';
import type { Shutdown } from './shutdown.ts';

/** Ends the process in order after uncaught errors. */
export const watchErrors = (shutdown: Shutdown, outbox: Outbox): void => {
  process.on('uncaughtException', error => void shutdown.fail(error));
  process.on('unhandledRejection', reason => {
    const message = messageOf(reason);
    const stack = positionsOf(reason);
    outbox.log('error', 'runtime', `A module left a failed promise behind: ${message}`, stack);
  });
};

/** Ends the process in order on signals. */
export const watchSignals = (shutdown: Shutdown): void => {
  process.on('SIGHUP', () => void shutdown.end('link lost'));
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, () => void shutdown.end('cancelled'));
};

type Receiving = {
  readonly wire: Wire;
  readonly peer: Peer;
  readonly shutdown: Shutdown;
  /** Bytes of the wire that were read before. */
  readonly first: Uint8Array | undefined;
  /** Whether the control node has said that nothing follows. */
  readonly isLast: () => boolean;
};

/**
 * Milliseconds for which a runtime that works on its last request does not hear the control node: where
 * many share a processor, some milliseconds of work take hundreds.
 */
const deaf = 500;

/**
 * Passes the bytes of the wire to the peer. A malformed message ends the process. Nothing is read
 * during a short last request that asks nothing of the control node, since Node takes as long to
 * open a stream as for ten states.
 *
 * @returns reads from now on: to be called before the control node is asked for something
 */
export const receiveFrom = ({ wire, peer, shutdown, first, isLast }: Receiving): (() => void) => {
  const broken = (error: unknown): void => {
    process.stderr.write(`${messageOf(error)}\n`);
    void shutdown.end('link lost');
  };
  const receive = (bytes: Uint8Array): void => {
    try {
      peer.receive(bytes)?.catch(broken);
    } catch (error) {
      broken(error);
    }
  };
  let isReading = false;
  const read = (): void => {
    if (isReading) return;
    isReading = true;
    wire.read(receive, () => void shutdown.end('link lost'));
  };
  if (first && first.length > 0) receive(first);
  if (isLast()) setTimeout(read, deaf);
  else read();
  return read;
};
