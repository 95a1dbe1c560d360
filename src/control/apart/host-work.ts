import { TsaltError } from '../../protocol/error.ts';
import { children, Exhausted, type ServeTemplate } from './children.ts';
import { receivedFault } from './faults.ts';
import type { ApartJob } from './jobs.ts';

/** Milliseconds of a processor that the jobs of one host may take together. */
const mostTime = 60_000;
/** Jobs of one host that may be ended by a limit, before it gets no more. */
const mostEnded = 3;

/** What is computed for one host: one job at a time. */
export class HostWork {
  readonly #host: string;
  readonly #mostTime: number;
  #turn: Promise<unknown> = Promise.resolve();
  #ended = 0;
  #milliseconds = 0;
  readonly #over = new AbortController();

  /** @param mostTimeTogether milliseconds of a processor that all jobs of the host may take */
  constructor(host: string, mostTimeTogether = mostTime) {
    this.#host = host;
    this.#mostTime = mostTimeTogether;
  }

  /**
   * Computes a job when it is its turn.
   *
   * @param make is called then: what waits takes no memory
   * @throws TsaltError what the job ended with; `host-limit` where it took too much
   */
  inTurn(make: () => Promise<ApartJob>, serve: ServeTemplate): Promise<string> {
    const mine = this.#turn.then(async () => {
      this.#over.signal.throwIfAborted();
      return this.now(await make(), serve);
    });
    this.#turn = mine.catch(() => undefined);
    return mine;
  }

  /** The host has no run any more: nothing is computed for it. */
  close(): void {
    this.#over.abort(
      new TsaltError('cancelled', 'The host has no run any more.', { kind: 'host' }),
    );
  }

  /** Computes a job that another job waits for. @throws TsaltError as `inTurn` */
  async now(job: ApartJob, serve: ServeTemplate): Promise<string> {
    this.#over.signal.throwIfAborted();
    const left = this.#mostTime - this.#milliseconds;
    if (left < 0) throw this.#overTime();
    if (this.#ended >= mostEnded)
      throw limited(`${mostEnded} texts of ${this.#host} took too much: no more are rendered.`);
    try {
      const { end, milliseconds } = await children.run(job, serve, left, this.#over.signal);
      this.#milliseconds += milliseconds;
      if ('text' in end) return end.text;
      throw receivedFault(end.fault);
    } catch (error) {
      if (!(error instanceof Exhausted)) throw error;
      this.#ended += 1;
      this.#milliseconds += error.milliseconds;
      if (this.#milliseconds > this.#mostTime) throw this.#overTime();
      throw limited(
        `A text of ${this.#host} ${error.message}, which is too much (limit for hosts).`,
      );
    }
  }

  #overTime(): TsaltError {
    return limited(`Texts of ${this.#host} took more than ${this.#mostTime / 1000} s together.`);
  }
}

const limited = (message: string): TsaltError =>
  new TsaltError('host-limit', message, {
    kind: 'host',
    hint: 'Put the template into the file roots and name it as salt:// source: such a one has no tight limits.',
  });
