import type { Host } from '../../protocol/host.ts';
import type { FromFleetWorker, ToFleetWorker } from './messages.ts';
import type { SentHost } from './sent-request.ts';

/** A worker as the main process sees it. */
export type PoolWorker = {
  readonly send: (message: ToFleetWorker) => void;
  /**
   * Converts a host for sending, without what this worker must not know. @throws TsaltError `via`
   */
  readonly sendHost: (host: Host) => SentHost;
  /** The worker is remote: it asks for the pillar, and must not read stores. */
  readonly isElsewhere: boolean;
};

/** The workers that share the hosts of a run. */
export type WorkerPool = {
  /**
   * Finds a worker for a host; it has already received the request of the run.
   *
   * @param id the number of the host in messages
   * @param unneeded aborts when the host needs no worker any more
   * @throws TsaltError, `WorkerEnded` if there is none
   */
  readonly take: (host: Host, id: number, unneeded?: AbortSignal) => Promise<PoolWorker>;
  /** The worker has finished a host. */
  readonly left: (worker: PoolWorker) => void;
  /** Ends the hosts' work in order. */
  readonly abort: () => void;
  readonly close: () => Promise<void>;
};

/** Makes the pool of a run. */
export type PoolMaker = (ears: {
  readonly hear: (worker: PoolWorker, message: FromFleetWorker) => void;
  /** A worker has ended; `how` says in which way. */
  readonly lost: (worker: PoolWorker, how: string) => void;
}) => WorkerPool;

/** A worker ended while it worked for a host. */
export class WorkerEnded extends Error {}
