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
  /**
   * Whether the last request is answered. If the first bytes were all that it takes, the runtime ends
   * without waiting for the control node.
   */
  readonly isDone: () => boolean;
};

/** Passes the bytes of the wire to the peer. A malformed message ends the process. */
export const receiveFrom = ({ wire, peer, shutdown, first, isDone }: Receiving): void => {
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
  const next = (): void => {
    if (isDone()) void shutdown.end('link lost');
    else wire.read(receive, () => void shutdown.end('link lost'));
  };
  if (first && first.length > 0) {
    receive(first);
    // What is answered without waiting is answered when this runs.
    setImmediate(next);
  } else next();
};
