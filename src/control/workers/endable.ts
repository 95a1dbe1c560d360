/**
 * Ends work that waits. Unlike `Promise.race` with a promise for the end, it holds nothing of work that
 * has finished: a run takes a worker for each of its hosts.
 */
export class Endable {
  readonly #waiting = new Set<(error: Error) => void>();
  #error: Error | undefined;

  /** Resolves with the work, or rejects when `end` is called. */
  until<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const done = (): void => void this.#waiting.delete(reject);
      work.then(resolve, reject).finally(done);
      if (this.#error) reject(this.#error);
      else this.#waiting.add(reject);
    });
  }

  /** Rejects all work that waits, and all further work. */
  end(error: Error): void {
    this.#error ??= error;
    for (const reject of [...this.#waiting]) reject(this.#error);
    this.#waiting.clear();
  }
}
