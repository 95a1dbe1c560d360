/** Pause after the last change before a check begins. */
const shortestPause = 60;
/** At most this part of the time is spent on checks. */
const share = 0.5;
const longestPause = 2000;

/**
 * Checks documents after changes, one at a time: changes in quick succession are one check, and
 * slow checks begin after longer pauses, so that the server goes on answering.
 */
export class CheckQueue {
  readonly #check: (uri: string) => Promise<void>;
  readonly #waiting = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #isBusy = false;
  #took = 0;

  constructor(check: (uri: string) => Promise<void>) {
    this.#check = check;
  }

  add(uri: string): void {
    // The document that changed last is checked first.
    const others = [...this.#waiting].filter(one => one !== uri);
    this.#waiting.clear();
    for (const one of [uri, ...others]) this.#waiting.add(one);
    this.#plan();
  }

  remove(uri: string): void {
    this.#waiting.delete(uri);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#waiting.clear();
  }

  #plan(): void {
    clearTimeout(this.#timer);
    if (this.#isBusy) return;
    const pause = Math.min(longestPause, Math.max(shortestPause, this.#took / share - this.#took));
    this.#timer = setTimeout(() => void this.#run(), pause);
  }

  async #run(): Promise<void> {
    const [uri] = this.#waiting;
    if (uri === undefined) return;
    this.#waiting.delete(uri);
    this.#isBusy = true;
    const began = performance.now();
    await this.#check(uri);
    this.#took = performance.now() - began;
    this.#isBusy = false;
    if (this.#waiting.size > 0) this.#plan();
  }
}
