import { EventEmitter, once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import type { Host } from '../../protocol/host.ts';
import type { PoolWorker, WorkerPool } from '../workers/pool.ts';

type AtWork = { readonly host: Host; readonly worker: PoolWorker };

/**
 * Finds a worker for a question to a host. A worker that is at work in the host's segment answers it
 * beside its hosts: all its places may be taken by hosts that wait for the answer.
 */
export class SegmentWorkers {
  readonly #pool: WorkerPool;
  readonly #atWork: ReadonlyMap<number, AtWork>;
  /** Emits the name of a segment when one of its workers begins with a host. */
  readonly #begins = new EventEmitter().setMaxListeners(0);

  /** @param atWork the hosts that workers currently run, with their workers */
  constructor(pool: WorkerPool, atWork: ReadonlyMap<number, AtWork>) {
    this.#pool = pool;
    this.#atWork = atWork;
  }

  /** A worker has begun with a host. */
  began({ via }: Host, worker: PoolWorker): void {
    if (via !== undefined) this.#begins.emit(via, worker);
  }

  /** Returns the worker that runs the host, or the one of its segment with the fewest hosts. */
  atWorkFor(host: Host): PoolWorker | undefined {
    const loads = new Map<PoolWorker, number>();
    for (const run of this.#atWork.values()) {
      if (run.host === host) return run.worker;
      if (host.via !== undefined && run.host.via === host.via)
        loads.set(run.worker, (loads.get(run.worker) ?? 0) + 1);
    }
    const [least] = [...loads].sort(([, one], [, other]) => one - other);
    return least?.[0];
  }

  /** Takes a worker from the pool, or the first one that begins to work in the segment. */
  async take(host: Host, id: number): Promise<PoolWorker> {
    const { via } = host;
    if (via === undefined) return this.#pool.take(host, id);
    const waiting = new AbortController();
    const taken = this.#pool.take(host, id, waiting.signal);
    const begun = once(this.#begins, via, { signal: waiting.signal });
    begun.catch(() => undefined);
    try {
      const first = await Promise.race([taken, begun.then(([worker]) => worker as PoolWorker)]);
      waiting.abort();
      // The pool may have chosen another worker in the same moment, which waits for the question.
      const chosen = taken.catch(() => undefined);
      return (await Promise.race([chosen, setImmediate(undefined)])) ?? first;
    } finally {
      waiting.abort();
    }
  }
}
