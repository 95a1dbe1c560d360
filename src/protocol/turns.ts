import { monotonic } from './monotonic.ts';
import { ownTurn } from './own-turn.ts';

/** Milliseconds for which rendering may block signals, time limits and other hosts. */
const usual = 30;

/** Lets other work continue during a long computation. */
export class Turns {
  readonly #length: number;
  #began = monotonic();

  /** @param length milliseconds after which other work may continue */
  constructor(length: number = usual) {
    this.#length = length;
  }

  /** Whether the time slice is used up. */
  get areOver(): boolean {
    return monotonic() - this.#began >= this.#length;
  }

  /** Yields to other work when the time slice is used up. */
  async pause(): Promise<void> {
    if (!this.areOver) return;
    await ownTurn();
    this.#began = monotonic();
  }
}
