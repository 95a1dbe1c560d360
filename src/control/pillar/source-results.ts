/**
 * Asks an external program or service for a part of the pillar. `key` contains everything that the
 * result may depend on.
 */
export type AskSource = <T>(key: readonly unknown[], ask: () => Promise<T>) => Promise<T>;

/**
 * The results of external sources for the speculative run of one host. If that run is discarded,
 * the retry takes these results instead of asking again, because asking may have side effects.
 */
export class SourceResults {
  readonly #answers = new Map<string, Promise<unknown>>();
  #isRetried = false;

  /** For the speculative run; fails once the retry has begun. */
  record: AskSource = (key, ask) => {
    if (this.#isRetried) return Promise.reject(new Error('The speculative run was discarded'));
    const answer = ask();
    // The retry that takes it handles a failure.
    answer.catch(() => undefined);
    this.#answers.set(JSON.stringify(key), answer);
    return answer;
  };

  /** For the retry. Each result is taken once: a second request wants the current state. */
  take: AskSource = <T>(key: readonly unknown[], ask: () => Promise<T>): Promise<T> => {
    this.#isRetried = true;
    const name = JSON.stringify(key);
    const known = this.#answers.get(name);
    this.#answers.delete(name);
    return (known as Promise<T> | undefined) ?? ask();
  };
}
