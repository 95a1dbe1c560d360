import { parentPort, workerData } from 'node:worker_threads';
import {
  clockEnd,
  clockId,
  type FromWorker,
  type SentError,
  type ToWorker,
  threadClock,
} from './messages.ts';

/** One rendering in a worker, with its calls to the main thread and its end. */
export class WorkerRun {
  readonly id: number;
  /** Calls without a result so far. */
  readonly open: Map<number, (answer: ToWorker & { readonly type: 'answer' }) => void> = new Map();
  #calls = 0;

  constructor(id: number) {
    this.id = id;
  }

  /**
   * Calls the main thread.
   *
   * @returns the number of the call
   */
  ask(
    name: string,
    args: readonly unknown[],
    onAnswer: (answer: ToWorker & { readonly type: 'answer' }) => void,
  ): number {
    const call = this.#calls;
    this.#calls += 1;
    this.open.set(call, onAnswer);
    post({ type: 'call', id: this.id, call, name, args });
    return call;
  }

  done(value: unknown): void {
    runs.delete(this.id);
    post({ type: 'done', id: this.id, value });
  }

  failed(error: SentError): void {
    runs.delete(this.id);
    post({ type: 'failed', id: this.id, error });
  }
}

const runs = new Map<number, WorkerRun>();
const post = (message: FromWorker): void => parentPort?.postMessage(message);
const clock: Int32Array = (workerData as { readonly clock: Int32Array }).clock;

/** Sets the current rendering and its remaining milliseconds; 0 if none is computing. */
export const computes = (id: number, milliseconds: number): void => {
  Atomics.store(clock, clockEnd, threadClock() + milliseconds);
  Atomics.store(clock, clockId, id);
};

/** Serves the renderings that the main thread begins. */
export const serveRuns = (begin: (run: WorkerRun, job: unknown) => void): void => {
  parentPort?.on('message', (message: ToWorker) => {
    if (message.type === 'begin') {
      const run = new WorkerRun(message.id);
      runs.set(message.id, run);
      begin(run, message.job);
      return;
    }
    const run = runs.get(message.id);
    const onAnswer = run?.open.get(message.call);
    run?.open.delete(message.call);
    onAnswer?.(message);
  });
};
