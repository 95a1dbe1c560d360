import type { TsaltError } from '../protocol/error.ts';
import { code, isBlank, isBreak, isBreakOrEnd, isSpaceOrEnd } from './characters.ts';
import type { Source } from './fault.ts';
import { scannerFault } from './syntax-fault.ts';

const surrogate = /[\ud800-\udbff]/;
const surrogates = /[\ud800-\udbff]/g;

/** The text under the scanner's hand: an offset that moves forward, and which line that is. */
export class Reader {
  readonly source: Source;
  readonly text: string;
  offset = 0;
  line = 0;
  #lineStart = 0;
  readonly #isWide: boolean;
  /** How many characters of this line take two code units, up to an offset. */
  #wide = 0;
  #wideUpTo = 0;

  constructor(source: Source) {
    this.source = source;
    this.text = source.text;
    this.#isWide = surrogate.test(this.text);
  }

  /** The code unit here, or some further on; NaN beyond the end. */
  peek(ahead = 0): number {
    return this.text.charCodeAt(this.offset + ahead);
  }

  /** Characters before this one on its line. */
  get column(): number {
    if (this.#isWide && this.offset > this.#wideUpTo) {
      const passed = this.text.slice(this.#wideUpTo, this.offset);
      this.#wide += passed.match(surrogates)?.length ?? 0;
      this.#wideUpTo = this.offset;
    }
    return this.offset - this.#lineStart - this.#wide;
  }

  skip(units = 1): void {
    this.offset += units;
  }

  skipBlanks(): void {
    while (isBlank(this.peek())) this.offset += 1;
  }

  skipComment(): void {
    if (this.peek() === code.hash) this.skipToLineEnd();
  }

  skipToLineEnd(): void {
    while (!isBreakOrEnd(this.peek())) this.offset += 1;
  }

  /** Takes a line end, where there is one, and gives it as it counts in text: mostly `\n`. */
  takeBreak(): string {
    const unit = this.peek();
    if (!isBreak(unit)) return '';
    this.offset += unit === code.return && this.peek(1) === code.lineFeed ? 2 : 1;
    this.#beginLine();
    return unit === 0x2028 || unit === 0x2029 ? String.fromCharCode(unit) : '\n';
  }

  /** At the end of a text that does not end its last line, the end counts as a line of its own. */
  endLine(): void {
    if (this.offset === this.#lineStart) return;
    this.offset = this.text.length + 1;
    this.#beginLine();
  }

  #beginLine(): void {
    this.line += 1;
    this.#lineStart = this.offset;
    this.#wide = 0;
    this.#wideUpTo = this.offset;
  }

  /** Whether `---` or `...` stands here, at the start of a line. */
  isDocumentIndicator(unit: number): boolean {
    return (
      this.offset === this.#lineStart &&
      this.peek() === unit &&
      this.peek(1) === unit &&
      this.peek(2) === unit &&
      isSpaceOrEnd(this.peek(3))
    );
  }

  isAtDocumentIndicator(): boolean {
    return this.isDocumentIndicator(code.minus) || this.isDocumentIndicator(code.dot);
  }

  /** A fault of the scanner here, while doing something since an offset. */
  fault(problem: string, doing?: string, since = this.offset): TsaltError {
    const context = doing === undefined ? undefined : { doing, since };
    return scannerFault(this.source, problem, this.offset, context);
  }
}
