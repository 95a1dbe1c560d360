/** Milliseconds that rendering may hold up everything else: signals, time limits, other hosts. */
const longest = 100;

/** Lets long rendering give way now and then, so that Ctrl-C and time limits are heard. */
export class Breath {
  #since = performance.now();

  /** @param now `performance.now()`, where it is known */
  isDue(now: number = performance.now()): boolean {
    return now - this.#since > longest;
  }

  async take(): Promise<void> {
    await new Promise(resolve => setImmediate(resolve));
    this.#since = performance.now();
  }
}
