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

/** Answers what a rendering asks of the main thread. */
export type ServeWorker = (name: string, args: readonly unknown[]) => Promise<unknown>;

/** A rendering ended with an error of the worker's; `cause` is the error of the call it passed on. */
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
  /** Answers by the order in which they were asked for: a rendering may have to begin again. */
  readonly answers: Answer[];
};

type Member = {
  readonly worker: Worker;
  readonly clock: Int32Array;
  readonly runs: Map<number, Run>;
};

export type PoolOptions = {
  /** Code of the worker, or its file, and what it needs. */
  readonly start: () => Promise<{ readonly code: string | URL; readonly options: WorkerOptions }>;
  readonly size: number;
  /** The error of a rendering that could not be stopped from within. */
  readonly endless: SentError;
};

/** Milliseconds after its end that a rendering may still take to notice it. */
const grace = 1500;
const glance = 200;
/** Renderings that a worker may have before another worker is started. */
const crowd = 8;

/**
 * Worker threads that render. They compute beside the main thread, which ends a worker whose
 * rendering has no end; the others of that worker begin again in a new one, with the answers
 * that they had.
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
    // One at a time: two that begin together shall not start two workers.
    this.#waiting = this.#waiting.then(async () => {
      try {
        this.#begin(await this.#member(), run);
      } catch (error) {
        run.reject(error);
      }
    });
  }

  async #member(): Promise<Member> {
    const isFree = ({ runs, clock }: Member): boolean =>
      runs.size < crowd && Atomics.load(clock, clockId) === 0;
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
    worker.on('error', error => this.#ended(member, { name: error.name, message: error.message }));
    worker.on('exit', () =>
      this.#ended(member, { name: 'Error', message: 'its worker has ended' }),
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

  /** Ends the workers whose rendering computes although its time is over. */
  #look(): void {
    for (const member of [...this.#members]) {
      const id = Atomics.load(member.clock, clockId);
      if (id === 0 || threadClock() - Atomics.load(member.clock, clockEnd) < grace) continue;
      this.#ended(member, this.#options.endless);
    }
  }

  /** A worker ends by the rendering that computes in it; the others begin again elsewhere. */
  #ended(member: Member, error: SentError): void {
    const at = this.#members.indexOf(member);
    if (at < 0) return;
    this.#members.splice(at, 1);
    const guilty = Atomics.load(member.clock, clockId);
    void member.worker.terminate();
    for (const [id, run] of member.runs) {
      member.runs.delete(id);
      if (id === guilty || guilty === 0) run.reject(new WorkerFailure(error, undefined));
      else this.#give(run);
    }
    this.#rest();
  }

  /** Stops looking at clocks while nothing is rendered. */
  #rest(): void {
    if (this.#members.some(({ runs }) => runs.size > 0)) return;
    clearInterval(this.#watch);
    this.#watch = undefined;
  }

  #send(member: Member, message: ToWorker): void {
    if (member.runs.has(message.id)) member.worker.postMessage(message);
  }
}
