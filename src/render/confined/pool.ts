import { Worker, type WorkerOptions } from 'node:worker_threads';
import { messageOf } from '../../protocol/error.ts';
import {
  clockEnd,
  clockId,
  type FromWorker,
  type SentError,
  type ToWorker,
  threadClock,
} from './messages.ts';

/** Answers a rendering's calls to the main thread. */
export type ServeWorker = (name: string, args: readonly unknown[]) => Promise<unknown>;

/**
 * A rendering ended with an error in the worker; `cause` is the error of the call that it passed
 * on.
 */
export class WorkerFailure extends Error {
  readonly sent: SentError;

  constructor(sent: SentError, cause: unknown) {
    super(sent.message, { cause });
    this.sent = sent;
  }
}

type Answer = { readonly key: string; readonly answer: Promise<unknown> };

type Run = {
  readonly job: unknown;
  readonly serve: ServeWorker;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** Results in the order of the calls: a rendering may have to restart. */
  readonly answers: Answer[];
};

type Member = {
  readonly worker: Worker;
  readonly clock: Int32Array;
  readonly runs: Map<number, Run>;
};

export type PoolOptions = {
  /** Returns the worker's code or file, and its options. */
  readonly start: () => Promise<{ readonly code: string | URL; readonly options: WorkerOptions }>;
  readonly size: number;
  /** The error of a rendering that had to be ended from outside. */
  readonly endless: SentError;
};

/** The id of the rendering that a worker computes at this moment, or 0. */
const currentOf = ({ clock }: Member): number => Atomics.load(clock, clockId);

/** Milliseconds that a rendering may take after its deadline to notice it. */
const grace = 1500;
const glance = 200;
/** Renderings of a worker after which another worker is started. */
const crowd = 8;

/**
 * Worker threads that render. The main thread ends a worker with an endless rendering; the worker's
 * other renderings restart in a new one, with the results that they already received.
 */
export class Pool {
  readonly #options: PoolOptions;
  readonly #members: Member[] = [];
  #waiting: Promise<unknown> = Promise.resolve();
  #next = 1;
  #watch: NodeJS.Timeout | undefined;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  /**
   * Renders in one of the workers.
   *
   * @throws WorkerFailure
   */
  run(job: unknown, serve: ServeWorker): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#give({ job, serve, resolve, reject, answers: [] });
    });
  }

  #give(run: Run): void {
    // One at a time, so that two simultaneous renderings do not start two workers.
    this.#waiting = this.#waiting.then(async () => {
      try {
        this.#begin(await this.#member(), run);
      } catch (error) {
        run.reject(error);
      }
    });
  }

  async #member(): Promise<Member> {
    const isFree = (member: Member): boolean => member.runs.size < crowd && currentOf(member) === 0;
    const byCrowd = this.#members.toSorted((a, b) => a.runs.size - b.runs.size);
    const best = byCrowd.find(isFree) ?? byCrowd[0];
    if (best && (isFree(best) || byCrowd.length >= this.#options.size)) return best;
    const { code, options } = await this.#options.start();
    const clock = new Int32Array(new SharedArrayBuffer(8));
    const data = { ...options.workerData, clock };
    const worker = new Worker(code, { ...options, workerData: data });
    const member: Member = { worker, clock, runs: new Map() };
    worker.unref();
    worker.on('message', (message: FromWorker) => this.#hear(member, message));
    worker.on('error', error =>
      this.#ended(member, { name: error.name, message: error.message }, currentOf(member)),
    );
    worker.on('exit', () =>
      this.#ended(member, { name: 'Error', message: 'its worker has ended' }, currentOf(member)),
    );
    this.#members.push(member);
    return member;
  }

  #begin(member: Member, run: Run): void {
    const id = this.#next;
    this.#next += 1;
    member.runs.set(id, run);
    member.worker.ref();
    this.#send(member, { type: 'begin', id, job: run.job });
    this.#watch ??= setInterval(() => this.#look(), glance).unref();
  }

  #hear(member: Member, message: FromWorker): void {
    const run = member.runs.get(message.id);
    if (!run) return;
    if (message.type === 'call') this.#answer(member, run, message);
    else {
      this.#leave(member, message.id);
      if (message.type === 'done') run.resolve(message.value);
      else void this.#fail(run, message.error);
    }
  }

  #answer(
    member: Member,
    run: Run,
    { id, call, name, args }: FromWorker & { readonly type: 'call' },
  ): void {
    const key = JSON.stringify([name, args]);
    const known = run.answers[call];
    const answer = known?.key === key ? known.answer : run.serve(name, args);
    run.answers[call] = { key, answer };
    answer.then(
      value => this.#send(member, { type: 'answer', id, call, value }),
      error => {
        const { name: kind } = error as Error;
        const sent = { name: String(kind), message: messageOf(error), call };
        this.#send(member, { type: 'answer', id, call, error: sent });
      },
    );
  }

  async #fail(run: Run, error: SentError): Promise<void> {
    const answer = error.call === undefined ? undefined : run.answers[error.call]?.answer;
    const cause = await answer?.then(
      () => undefined,
      thrown => thrown,
    );
    run.reject(new WorkerFailure(error, cause));
  }

  #leave(member: Member, id: number): void {
    member.runs.delete(id);
    if (member.runs.size === 0) member.worker.unref();
    this.#rest();
  }

  /** Ends the workers whose current rendering is past its deadline. */
  #look(): void {
    for (const member of [...this.#members]) {
      const id = currentOf(member);
      if (id === 0 || threadClock() - Atomics.load(member.clock, clockEnd) < grace) continue;
      // The deadline is that of another rendering if the worker has changed over in between.
      if (currentOf(member) === id) this.#ended(member, this.#options.endless, id);
    }
  }

  /**
   * Handles the end of a worker: the rendering that it was computing fails, the others restart
   * elsewhere.
   *
   * @param guilty - 0 if it was computing none: then all of them fail
   */
  #ended(member: Member, error: SentError, guilty: number): void {
    const at = this.#members.indexOf(member);
    if (at < 0) return;
    this.#members.splice(at, 1);
    void member.worker.terminate();
    for (const [id, run] of member.runs) {
      member.runs.delete(id);
      if (id === guilty || guilty === 0) run.reject(new WorkerFailure(error, undefined));
      else this.#give(run);
    }
    this.#rest();
  }

  /** Stops the timer while nothing is rendered. */
  #rest(): void {
    if (this.#members.some(({ runs }) => runs.size > 0)) return;
    clearInterval(this.#watch);
    this.#watch = undefined;
  }

  #send(member: Member, message: ToWorker): void {
    if (member.runs.has(message.id)) member.worker.postMessage(message);
  }
}
