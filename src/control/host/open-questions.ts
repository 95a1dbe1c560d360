import { setTimeout as sleep } from 'node:timers/promises';

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
    const late = new AbortController();
    const stop = (): void => late.abort();
    signal.addEventListener('abort', stop, { once: true });
    const wait = sleep(Math.min(seconds * 1000, 2 ** 31 - 1), undefined, { signal: late.signal });
    await Promise.race([Promise.allSettled(this.#open), wait.catch(() => undefined)]);
    signal.removeEventListener('abort', stop);
    stop();
  }
}
