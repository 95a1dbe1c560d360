/** A quoted string or a flow collection, brackets and quotes included. */
export type Span = { readonly start: number; readonly end: number };

const quoted = /"[^"\\]*(?:\\[\s\S][^"\\]*)*"|'[^']*(?:''[^']*)*'/y;
const toLineEnd = /[^\r\n]*/y;
const blanks = /[ \t]*/y;
const lineEnd = /\r\n|[\r\n]/y;
const word = /[^\s,[\]{}]+/y;
const plainText = /(?:[^\s:]+|:(?=\S)|[ \t]+(?![\s#]))+/y;

/**
 * Guesses which quoted strings and outermost flow collections of a text span several lines. It
 * scans each line roughly: the caller has to check the result.
 */
export const continuedNodes = (text: string): readonly Span[] => sweep(text).spans;

/** Guesses which tabs only separate brackets from their surroundings or parts between brackets. */
export const separatingTabs = (text: string): readonly number[] => sweep(text).tabs;

/** Guesses which quote and brackets are open at the end of a text. */
export const openNodes = (text: string): readonly number[] => sweep(text).open;

const sweep = (text: string): Sweep => {
  const swept = new Sweep(text);
  swept.run();
  return swept;
};

class Sweep {
  readonly #text: string;
  readonly spans: Span[] = [];
  readonly open: number[] = [];
  readonly tabs: number[] = [];
  #at = 0;
  /** The column of the innermost block collection. */
  #parent = -1;

  constructor(text: string) {
    this.#text = text;
  }

  run(): void {
    while (this.#at < this.#text.length) this.#line();
  }

  #line(): void {
    const start = this.#at;
    if (/^---(?:\s|$)/.test(this.#text.slice(start, start + 4))) {
      this.#at += 3;
      this.#parent = -1;
    }
    for (;;) {
      const at = this.#skipBlanks();
      const unit = this.#text.charAt(at);
      const isIndicator = /^[-?:](?:\s|$)/.test(this.#text.slice(at, at + 2));
      if (unit === '|' || unit === '>') {
        this.#blockScalar();
        return;
      }
      if (isIndicator) {
        if (unit !== ':') this.#parent = at - start;
        this.#at += 1;
      } else if (unit !== '' && '&*!'.includes(unit)) this.#skip(word, 1);
      else if (unit === '"' || unit === "'" || unit === '[' || unit === '{')
        this.#continued(unit === '[' || unit === '{', start);
      else if (unit === '#' || !this.#plain(start)) break;
    }
    this.#skip(toLineEnd);
    this.#skip(lineEnd);
  }

  /** Whether to continue reading the line. */
  #plain(lineStart: number): boolean {
    const from = this.#at;
    this.#skip(plainText);
    if (this.#text.charAt(this.#at) !== ':') return false;
    this.#parent = from - lineStart;
    return this.#at > from;
  }

  #continued(isFlow: boolean, lineStart: number): void {
    const start = this.#at;
    if (isFlow) this.#flow();
    else this.#quoted();
    if (/[\r\n]/.test(this.#text.slice(start, this.#at))) this.spans.push({ start, end: this.#at });
    else if (/^[ \t]*:/.test(this.#text.slice(this.#at, this.#at + 80)))
      this.#parent = start - lineStart;
  }

  /** Skips blanks, except tabs that indent a line. */
  #skipBlanks(): number {
    const start = this.#at;
    this.#skip(blanks);
    if (/[^\r\n]/.test(this.#text.charAt(start - 1))) this.#addTabs(start);
    return this.#at;
  }

  #addTabs(start: number): void {
    for (let at = start; at < this.#at; at += 1)
      if (this.#text.charCodeAt(at) === 9) this.tabs.push(at);
  }

  #quoted(): void {
    const start = this.#at;
    this.#skip(quoted);
    if (this.#at > start) return;
    this.open.push(start);
    this.#at = this.#text.length;
  }

  #flow(): void {
    let isNodeStart = true;
    while (this.#at < this.#text.length) {
      const unit = this.#text.charAt(this.#at);
      if (this.#separation(unit, isNodeStart)) continue;
      if (isNodeStart && unit !== '' && '&!*'.includes(unit)) this.#skip(word, 1);
      else if (isNodeStart && (unit === '"' || unit === "'")) {
        this.#quoted();
        isNodeStart = this.#text.charAt(this.#at) === ':';
        if (isNodeStart) this.#at += 1;
      } else {
        this.#at += 1;
        if (unit === '[' || unit === '{') this.open.push(this.#at - 1);
        else if (unit === ']' || unit === '}') {
          this.open.pop();
          if (this.open.length === 0) return;
        }
        isNodeStart = this.#isBeforeNode(unit);
      }
    }
  }

  /** Skips blanks, line ends and comments. @returns whether there were any */
  #separation(unit: string, isNodeStart: boolean): boolean {
    if (unit === '#' && /\s/.test(this.#text.charAt(this.#at - 1))) {
      this.#skip(toLineEnd);
      return true;
    }
    if (unit === ' ' || unit === '\t') {
      const start = this.#at;
      this.#skip(blanks);
      if (isNodeStart || /[,\]}:#\r\n]/.test(this.#text.charAt(this.#at))) this.#addTabs(start);
      return true;
    }
    if (unit !== '\n' && unit !== '\r') return false;
    this.#at += 1;
    return true;
  }

  /** Whether a node may begin after this character between brackets. */
  #isBeforeNode(unit: string): boolean {
    if (unit === ',' || unit === '[' || unit === '{') return true;
    return (unit === ':' || unit === '?') && /^$|[\s,[\]{}]/.test(this.#text.charAt(this.#at));
  }

  #blockScalar(): void {
    this.#skip(toLineEnd);
    this.#skip(lineEnd);
    while (this.#at < this.#text.length) {
      const start = this.#at;
      this.#skip(blanks);
      if (!/[\r\n]/.test(this.#text.charAt(this.#at)) && this.#at - start <= this.#parent) {
        this.#at = start;
        return;
      }
      this.#skip(toLineEnd);
      this.#skip(lineEnd);
    }
  }

  /** Skips a match of the pattern; without a match, this many units. */
  #skip(pattern: RegExp, otherwise = 0): void {
    pattern.lastIndex = this.#at;
    this.#at = pattern.test(this.#text) ? pattern.lastIndex : this.#at + otherwise;
  }
}
