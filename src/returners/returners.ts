import { messageOf } from '../protocol/error.ts';
import type { RunEvent } from '../protocol/event.ts';
import type { JobLoad, Returner, SaltReturn } from './returner.ts';

/** Characters of returns that wait for a slow returner; of more, the rest is left out. */
const mostWaiting = 64 * 1024 * 1024;

/** Returns in one write, and their characters. */
const mostTogether = 100;
const mostCharacters = 4 * 1024 * 1024;

/** Milliseconds that a returner has after the run. */
const patience = 10_000;

/** A returner with its returns that wait. A failure of one affects neither the run nor the others. */
class Outlet {
  readonly #returner: Returner;
  readonly #warn: (message: string) => void;
  readonly #waiting: { readonly ret: SaltReturn; readonly size: number }[] = [];
  #size = 0;
  #lost = 0;
  #load: JobLoad | undefined;
  #work: Promise<void> | undefined;
  readonly #writing = new AbortController();
  #begun: Promise<void> = Promise.resolve();
  #isBroken = false;
  #hasWarned = false;
  /** Returns that were refused one after the other. */
  #refused = 0;

  constructor(returner: Returner, warn: (message: string) => void) {
    this.#returner = returner;
    this.#warn = warn;
  }

  begin(load: JobLoad): void {
    this.#load = load;
    this.#begun = (async () => this.#returner.begin?.(load))().catch(this.#failed);
  }

  follow(event: RunEvent): void {
    try {
      if (!this.#isBroken) this.#returner.follow?.(event);
    } catch (error) {
      this.#failed(error);
    }
  }

  add(ret: SaltReturn, size: number): void {
    if (!this.#returner.write) return;
    if (this.#isBroken || this.#size + size > mostWaiting) {
      this.#lost += 1;
      return;
    }
    this.#waiting.push({ ret, size });
    this.#size += size;
    this.#work ??= this.#drain();
  }

  /** Resolves when all is written, or when it takes too long. */
  async end(): Promise<void> {
    let late: NodeJS.Timeout | undefined;
    const isLate = new Promise<string>(resolve => {
      late = setTimeout(resolve, patience, `it took more than ${patience / 1000} s`);
    });
    const done = (async () => {
      await this.#begun;
      await this.#work;
      await this.#returner.end?.();
      return '';
    })().catch((error: unknown) => messageOf(error));
    const why = await Promise.race([done, isLate]);
    clearTimeout(late);
    if (why !== '') this.#failed(new Error(why));
    this.#writing.abort();
    const lost = this.#lost + this.#waiting.length;
    if (lost > 0)
      this.#warn(
        `The returner ${this.#returner.name} did not get the returns of ${lost === 1 ? '1 host' : `${lost} hosts`}.`,
      );
  }

  async #drain(): Promise<void> {
    // Those that come about together are written together.
    await new Promise(resolve => setTimeout(resolve, 50));
    await this.#begun;
    while (this.#waiting.length > 0 && !this.#isBroken) {
      const batch: SaltReturn[] = [];
      let size = 0;
      for (const { ret, size: own } of this.#waiting) {
        if (batch.length >= mostTogether || (batch.length > 0 && size + own > mostCharacters))
          break;
        batch.push(ret);
        size += own;
      }
      this.#waiting.splice(0, await this.#write(batch));
      this.#size -= size;
    }
    this.#work = undefined;
  }

  /**
   * Writes returns. Where they cannot be written together, each is written alone: one that is
   * refused must not take those of other hosts with it.
   *
   * @returns how many are done, written or refused
   */
  async #write(batch: readonly SaltReturn[]): Promise<number> {
    if (await this.#attempt(batch)) return batch.length;
    if (batch.length === 1) return 1;
    for (const [at, ret] of batch.entries()) {
      await this.#attempt([ret]);
      if (this.#isBroken) return at + 1;
    }
    return batch.length;
  }

  async #attempt(some: readonly SaltReturn[]): Promise<boolean> {
    try {
      await this.#returner.write?.(some, this.#load as JobLoad, this.#writing.signal);
      this.#refused = 0;
      return true;
    } catch (error) {
      this.#warnOnce(error);
      if (some.length > 1) return false;
      this.#lost += 1;
      this.#refused += 1;
      // Two in turn are the fault of the returner, which is not tried again.
      if (this.#refused > 1) this.#isBroken = true;
      return false;
    }
  }

  readonly #failed = (error: unknown): void => {
    this.#isBroken = true;
    this.#warnOnce(error);
  };

  #warnOnce(error: unknown): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    this.#warn(`The returner ${this.#returner.name} failed: ${messageOf(error)}`);
  }
}

/** The returners of a run. */
export class Returners {
  readonly #outlets: readonly Outlet[];
  #load: JobLoad | undefined;

  /** @param warn prints a message */
  constructor(returners: readonly Returner[], warn: (message: string) => void) {
    this.#outlets = returners.map(returner => new Outlet(returner, warn));
  }

  begin(load: JobLoad): void {
    this.#load = load;
    for (const outlet of this.#outlets) outlet.begin(load);
  }

  /** @param dataOf the data of a result as it is shown: without what is hidden */
  follow(
    event: RunEvent,
    dataOf: (event: RunEvent & { type: 'host' }) => SaltReturn['return'],
  ): void {
    for (const outlet of this.#outlets) outlet.follow(event);
    if (event.type !== 'host' || !this.#load) return;
    const { id, fun, retcode, failure } = event.result;
    const ret: SaltReturn = {
      jid: this.#load.jid,
      id,
      fun,
      fun_args: this.#load.arg,
      return: dataOf(event),
      retcode,
      success: retcode === 0 && failure === undefined,
      _stamp: new Date().toISOString(),
    };
    const size = JSON.stringify(ret).length;
    for (const outlet of this.#outlets) outlet.add(ret, size);
  }

  /** Resolves when all returners are done, or were given up. */
  async end(): Promise<void> {
    await Promise.all(this.#outlets.map(outlet => outlet.end()));
  }
}
