import { onAbort } from '../../protocol/on-abort.ts';
import { pause } from './pause.ts';

/** The questions of other hosts' templates that a host is answering over the link of its own run. */
export class OpenQuestions {
  readonly #open = new Set<Promise<unknown>>();

  /** Whether one was taken that has no answer yet, even if the host has not been asked. */
  get areOpen(): boolean {
    return this.#open.size > 0;
  }

  /** Takes a question. */
  answer<T>(work: () => Promise<T>): Promise<T> {
    const answer = work();
    const end = (): void => void this.#open.delete(answer);
    this.#open.add(answer);
    answer.then(end, end);
    return answer;
  }

  /**
   * Waits for the answers: the link would close under them.
   *
   * @param seconds after which nobody waits for one any more
   */
  async end(seconds: number, signal: AbortSignal): Promise<void> {
    if (!this.areOpen || signal.aborted) return;
    const over = new AbortController();
    const stop = (): void => over.abort();
    void Promise.allSettled(this.#open).then(stop);
    const release = onAbort(signal, stop);
    await pause(Math.min(seconds * 1000, 2 ** 31 - 1), over.signal);
    release();
  }
}
