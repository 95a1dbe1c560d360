const tilde = 0x7e;

/**
 * Finds `~.` at the beginning of a typed line, which ends a session whose host no longer answers,
 * as in ssh. `~~` is a tilde.
 */
export class EscapeKeys {
  readonly #end: () => void;
  #isLineStart = true;
  #isEscaped = false;

  constructor(end: () => void) {
    this.#end = end;
  }

  /** Returns the keys to send to the host. */
  take(chunk: Uint8Array): Buffer {
    const keys: number[] = [];
    for (const key of chunk) {
      if (this.#isEscaped) {
        this.#isEscaped = false;
        if (key === 0x2e) {
          this.#end();
          return Buffer.from(keys);
        }
        if (key === tilde) {
          keys.push(tilde);
          continue;
        }
        keys.push(tilde);
      } else if (this.#isLineStart && key === tilde) {
        this.#isEscaped = true;
        this.#isLineStart = false;
        continue;
      }
      keys.push(key);
      this.#isLineStart = key === 0x0d || key === 0x0a;
    }
    return Buffer.from(keys);
  }
}
