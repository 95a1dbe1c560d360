/**
 * Asks somebody outside for a part of the pillar. `key` holds everything the answer may depend
 * on.
 */
export type AskSource = <T>(key: readonly unknown[], ask: () => Promise<T>) => Promise<T>;

/**
 * What was answered to the speculative run of one host. Where that run is discarded, its retry
 * takes each answer instead of asking again: the program that is asked may do more than answer.
 */
export class SourceAnswers {
  readonly #answers = new Map<string, Promise<unknown>>();
  #isRetried = false;

  /** For the speculative run, which ends when the retry asks. */
  record: AskSource = (key, ask) => {
    if (this.#isRetried) return Promise.reject(new Error('The speculative run was discarded'));
    const answer = ask();
    // The retry that takes it sees a failure.
    answer.catch(() => undefined);
    this.#answers.set(JSON.stringify(key), answer);
    return answer;
  };

  /** For the run. An answer is taken once: asking again means to want to know what is true now. */
  take: AskSource = <T>(key: readonly unknown[], ask: () => Promise<T>): Promise<T> => {
    this.#isRetried = true;
    const name = JSON.stringify(key);
    const known = this.#answers.get(name);
    this.#answers.delete(name);
    return (known as Promise<T> | undefined) ?? ask();
  };
}
