import { ownTurn } from '../protocol/own-turn.ts';

/**
 * Milliseconds for which rendering may block everything else: signals, time limits, other hosts.
 */
const longest = 30;

/** Lets long rendering yield regularly, so that Ctrl-C and time limits work. */
export class CooperativeYield {
  readonly #longest: number;
  #since = performance.now();

  /** @param milliseconds for which work may block everything else */
  constructor(milliseconds: number = longest) {
    this.#longest = milliseconds;
  }

  /** @param now `performance.now()`, if it is known */
  isDue(now: number = performance.now()): boolean {
    return now - this.#since > this.#longest;
  }

  async take(): Promise<void> {
    await ownTurn();
    this.#since = performance.now();
  }
}
