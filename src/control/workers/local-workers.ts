import { TsaltError } from '../../protocol/error.ts';
import type { ToFleetWorker } from './messages.ts';
import { type PoolMaker, type PoolWorker, WorkerEnded, type WorkerPool } from './pool.ts';
import { sendHost } from './sent-request.ts';
import { canStartWorkers, WorkerLink } from './worker-link.ts';

/** A process of this machine. */
type Local = PoolWorker & { readonly link: WorkerLink };

/**
 * Makes a pool of processes of this machine.
 *
 * @param begin the first message to each process
 * @throws TsaltError `workers` where the program cannot start itself
 */
export const localWorkers =
  (count: number, fun: string, begin: ToFleetWorker): PoolMaker =>
  ears => {
    if (!canStartWorkers())
      throw new TsaltError('workers', 'Only the built command line can start worker processes.', {
        hint: 'Leave --workers out.',
      });
    return new LocalWorkers(count, fun, begin, ears);
  };

class LocalWorkers implements WorkerPool {
  readonly #workers: Local[] = [];
  readonly #fun: string;
  readonly #begin: ToFleetWorker;
  readonly #ears: Parameters<PoolMaker>[0];
  #replacements: number;
  #isClosing = false;
  #isAborted = false;

  constructor(count: number, fun: string, begin: ToFleetWorker, ears: Parameters<PoolMaker>[0]) {
    this.#fun = fun;
    this.#begin = begin;
    this.#ears = ears;
    this.#replacements = count;
    for (let at = 0; at < count; at += 1) this.#start();
  }

  /** Finds the worker with the fewest hosts. */
  async take(): Promise<PoolWorker> {
    const [worker] = this.#workers
      .filter(({ link }) => link.isAlive)
      .sort((one, other) => one.link.load - other.link.load);
    if (!worker) throw new WorkerEnded('none is left');
    worker.link.load += 1;
    return worker;
  }

  left(worker: PoolWorker): void {
    (worker as Local).link.load -= 1;
  }

  abort(): void {
    this.#isAborted = true;
    for (const worker of this.#workers) worker.send({ type: 'abort' });
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    await Promise.all(this.#workers.map(({ link }) => link.close()));
  }

  #start(): void {
    const link = new WorkerLink(this.#fun, message => this.#ears.hear(worker, message));
    const worker: Local = {
      link,
      send: message => link.send(message),
      sendHost,
      isElsewhere: false,
    };
    this.#workers.push(worker);
    worker.send(this.#begin);
    if (this.#isAborted) worker.send({ type: 'abort' });
    void link.ended.then(how => this.#lost(worker, how));
  }

  #lost(worker: Local, how: string): void {
    this.#workers.splice(this.#workers.indexOf(worker), 1);
    if (this.#isClosing) return;
    this.#replacements -= 1;
    if (this.#replacements >= 0) this.#start();
    this.#ears.lost(worker, how);
  }
}
