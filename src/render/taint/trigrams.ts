const size = 1 << 18;

/**
 * The sequences of three characters that a text has, as a filter: says at once of most strings that
 * the text does not contain them. Takes one pass over the text.
 */
export class Trigrams {
  readonly #has = new Uint8Array(size);

  constructor(text: string) {
    let hash = 0;
    for (let at = 0; at < text.length; at++) {
      hash = next(hash, text.charCodeAt(at));
      this.#has[hash] = 1;
    }
  }

  /** Tells whether the text may contain a string; `false` is certain. */
  mayContain(part: string): boolean {
    let hash = 0;
    const end = Math.min(part.length, 32);
    for (let at = 0; at < end; at++) {
      hash = next(hash, part.charCodeAt(at));
      // Before the third character the hash does not depend on what precedes the part in the text.
      if (at >= 2 && this.#has[hash] === 0) return false;
    }
    return true;
  }
}

/** Shifts by 6 bits of 18: after three characters nothing is left of those before. */
const next = (hash: number, code: number): number => ((hash << 6) ^ code) & (size - 1);
