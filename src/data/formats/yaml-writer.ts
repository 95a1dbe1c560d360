import { type Escapes, escapeChar, mustEscape } from './yaml-scalar.ts';

/** The output of libyaml's emitter: tracks the column and whether whitespace was just written. */
export class YamlWriter {
  readonly #parts: string[] = [];
  readonly #width: number;
  readonly #escapes: Escapes;
  #column = 0;
  #whitespace = true;
  #indention = true;
  indent = -1;

  constructor(width: number, escapes: Escapes = undefined) {
    this.#width = width;
    this.#escapes = escapes;
  }

  get text(): string {
    return this.#parts.join('');
  }

  get indention(): boolean {
    return this.#indention;
  }

  get isPastWidth(): boolean {
    return this.#column > this.#width;
  }

  newLine(): void {
    const indent = Math.max(this.indent, 0);
    if (!this.#indention || this.#column > indent || (this.#column === indent && !this.#whitespace))
      this.#break();
    if (this.#column < indent) this.#put(' '.repeat(indent - this.#column));
    this.#whitespace = true;
    this.#indention = true;
  }

  indicator(text: string, space: boolean, isSpace = false, isIndention = false): void {
    if (space && !this.#whitespace) this.#put(' ');
    this.#put(text);
    this.#whitespace = isSpace;
    this.#indention = this.#indention && isIndention;
  }

  plain(text: string, mayBreak: boolean): void {
    if (!this.#whitespace && text !== '') this.#put(' ');
    const chars = Array.from(text);
    let spaces = false;
    chars.forEach((char, index) => {
      if (char === ' ') {
        if (mayBreak && !spaces && this.isPastWidth && chars[index + 1] !== ' ') this.newLine();
        else this.#put(char);
        spaces = true;
      } else {
        this.#put(char);
        this.#indention = false;
        spaces = false;
      }
    });
    this.#whitespace = false;
    this.#indention = false;
  }

  single(text: string, mayBreak: boolean): void {
    this.indicator("'", true);
    const chars = Array.from(text);
    const last = chars.length - 1;
    let spaces = false;
    let broken = false;
    chars.forEach((char, index) => {
      if (char === ' ') {
        const fold =
          mayBreak &&
          !spaces &&
          this.isPastWidth &&
          index > 0 &&
          index < last &&
          chars[index + 1] !== ' ';
        if (fold) this.newLine();
        else this.#put(char);
        spaces = true;
      } else if ('\n\x85\u2028\u2029'.includes(char)) {
        if (!broken && char === '\n') this.#break();
        if (char === '\n') this.#break();
        else this.#put(char, true);
        this.#indention = true;
        broken = true;
      } else {
        if (broken) this.newLine();
        this.#put(char === "'" ? "''" : char);
        this.#indention = false;
        spaces = false;
        broken = false;
      }
    });
    if (broken) this.newLine();
    this.indicator("'", false);
  }

  double(text: string, mayBreak: boolean): void {
    this.indicator('"', true);
    const chars = Array.from(text);
    const last = chars.length - 1;
    let spaces = false;
    chars.forEach((char, index) => {
      if (mustEscape(char, this.#escapes)) {
        this.#put(escapeChar(char));
        spaces = false;
      } else if (char === ' ') {
        if (mayBreak && !spaces && this.isPastWidth && index > 0 && index < last) {
          this.newLine();
          if (chars[index + 1] === ' ') this.#put('\\');
        } else this.#put(char);
        spaces = true;
      } else {
        this.#put(char);
        spaces = false;
      }
    });
    this.indicator('"', false);
  }

  #put(text: string, isBreak = false): void {
    this.#parts.push(text);
    this.#column = isBreak ? 0 : this.#column + (text.length === 1 ? 1 : Array.from(text).length);
  }

  #break(): void {
    this.#put('\n', true);
  }
}
