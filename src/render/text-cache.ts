/**
 * Caches results by text, limited by the total length of the texts; the least recently used is
 * dropped first. A text is cached from its second use on, so a single host pays nothing.
 */
export class TextCache<Value> {
  readonly #limit: number;
  readonly #values = new Map<string, Value>();
  readonly #seen = new Set<string>();
  #size = 0;
  #seenSize = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get(text: string): Value | undefined {
    const value = this.#values.get(text);
    if (value === undefined) return undefined;
    this.#values.delete(text);
    this.#values.set(text, value);
    return value;
  }

  /** True from the second request for a text on. */
  isWorth(text: string): boolean {
    if (this.#seen.has(text)) return true;
    this.#seenSize += text.length;
    if (this.#seenSize > this.#limit) {
      this.#seen.clear();
      this.#seenSize = text.length;
    }
    this.#seen.add(text);
    return false;
  }

  set(text: string, value: Value): void {
    if (text.length > this.#limit || this.#values.has(text)) return;
    this.#values.set(text, value);
    this.#size += text.length;
    for (const oldest of this.#values.keys()) {
      if (this.#size <= this.#limit) break;
      this.#values.delete(oldest);
      this.#size -= oldest.length;
    }
  }
}
