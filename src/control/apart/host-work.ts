import { TsaltError } from '../../protocol/error.ts';
import { children, Exhausted, type ServeTemplate } from './children.ts';
import type { ApartJob } from './jobs.ts';
import { decodeError } from './sent-error.ts';

/** Milliseconds of CPU that all jobs of one host may use together. */
const mostTime = 60_000;
/** Jobs of one host that a limit may end before the host gets no more. */
const mostEnded = 3;

/** The jobs of one host: one at a time. */
export class HostWork {
  readonly #host: string;
  readonly #mostTime: number;
  #turn: Promise<unknown> = Promise.resolve();
  #ended = 0;
  #milliseconds = 0;
  readonly #over = new AbortController();

  /** @param mostTimeTogether milliseconds of CPU that all jobs of the host may use together */
  constructor(host: string, mostTimeTogether = mostTime) {
    this.#host = host;
    this.#mostTime = mostTimeTogether;
  }

  /**
   * Computes a job after the earlier jobs of this host.
   *
   * @param make makes the job when its turn comes, so that waiting jobs use no memory
   * @throws TsaltError the error of the job; `host-limit` if it used too much
   */
  inTurn(make: () => Promise<ApartJob>, serve: ServeTemplate): Promise<string> {
    const mine = this.#turn.then(async () => {
      this.#over.signal.throwIfAborted();
      return this.now(await make(), serve);
    });
    this.#turn = mine.catch(() => undefined);
    return mine;
  }

  /** Ends the jobs of a host whose run has ended; nothing more is computed for it. */
  close(): void {
    this.#over.abort(
      new TsaltError('cancelled', 'The run of the host has ended.', { kind: 'host' }),
    );
  }

  /** Computes at once a job that another job waits for. @throws TsaltError as `eachInOrder` */
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
      throw decodeError(end.fault);
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
