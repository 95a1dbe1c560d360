/** The blanks and line ends between two words: one line end is a space, more lose the first. */
export class Folding {
  #blanks = '';
  #first = '';
  #more = '';
  hasBreak = false;

  blank(unit: number): void {
    if (!this.hasBreak) this.#blanks += String.fromCharCode(unit);
  }

  lineEnd(text: string): void {
    if (this.hasBreak) this.#more += text;
    else this.#first = text;
    this.hasBreak = true;
  }

  /** An escaped line end: what comes up to the next word falls away, but for empty lines. */
  escapedLineEnd(): void {
    this.hasBreak = true;
  }

  /** What stands for all of them; afterwards there are none. */
  take(): string {
    const result = !this.hasBreak
      ? this.#blanks
      : this.#first === '\n'
        ? this.#more || ' '
        : this.#first + this.#more;
    this.#blanks = '';
    this.#first = '';
    this.#more = '';
    this.hasBreak = false;
    return result;
  }
}
