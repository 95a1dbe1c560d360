import type { Host } from '../../protocol/host.ts';
import type { FromFleetWorker, ToFleetWorker } from './messages.ts';
import type { SentHost } from './sent-request.ts';

/** A worker of a run, as the process of the run has it. */
export type PoolWorker = {
  readonly send: (message: ToFleetWorker) => void;
  /** Makes of a host what this worker may know. @throws TsaltError `via` */
  readonly sendHost: (host: Host) => SentHost;
  /** It is elsewhere: it asks for the pillar, and may not ask stores. */
  readonly isElsewhere: boolean;
};

/** The workers that share the hosts of a run. */
export type WorkerPool = {
  /**
   * Finds a worker for a host. It has the request of the run.
   *
   * @param id the number of the host in messages
   * @throws TsaltError, `WorkerEnded` where there is none
   */
  readonly take: (host: Host, id: number) => Promise<PoolWorker>;
  /** The worker has done with a host. */
  readonly left: (worker: PoolWorker) => void;
  /** Ends the work in order. */
  readonly abort: () => void;
  readonly close: () => Promise<void>;
};

/** Makes the pool of a run. */
export type PoolMaker = (ears: {
  readonly hear: (worker: PoolWorker, message: FromFleetWorker) => void;
  /** A worker is gone; `how` it ended. */
  readonly lost: (worker: PoolWorker, how: string) => void;
}) => WorkerPool;

/** A worker ended while it worked for a host. */
export class WorkerEnded extends Error {}
