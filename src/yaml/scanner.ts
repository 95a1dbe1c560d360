import { code, isBlank, isBreak, isEnd, isSpaceOrEnd } from './characters.ts';
import type { Source } from './fault.ts';
import { Reader } from './reader.ts';
import { scanBlockScalar } from './scan-block.ts';
import { scanAnchor, scanDirective, scanTag } from './scan-names.ts';
import { scanPlain } from './scan-plain.ts';
import { scanQuoted } from './scan-quoted.ts';
import { SimpleKeys } from './simple-keys.ts';
import { type Token, type TokenKind, tokenOf } from './token.ts';

/** Units that begin a token of their own wherever they stand; `-?:` do so before a blank. */
const indicators = new Set([...',[]{}#&*!|>\'"%@`'].map(char => char.charCodeAt(0)));

/**
 * Tokens of a text as libyaml makes them. What a `:` turns into a key may stand before it, so
 * tokens wait in a queue for as long as the first of them may be one.
 */
export class Scanner {
  readonly #reader: Reader;
  readonly #tokens: Token[] = [];
  readonly #keys: SimpleKeys;
  readonly #indents: number[] = [];
  #indent = -1;
  #taken = 0;
  #keyAllowed = true;

  constructor(source: Source) {
    this.#reader = new Reader(source);
    this.#keys = new SimpleKeys(this.#reader);
  }

  /** The next token, left where it is; at the end that is `stream-end`, which none may skip. */
  peek(): Token {
    while (this.#needsMore()) this.#fetch();
    return this.#tokens[0] ?? tokenOf('stream-end', this.#reader.offset, this.#reader.offset);
  }

  skip(): void {
    this.#tokens.shift();
    this.#taken += 1;
  }

  #needsMore(): boolean {
    if (this.#tokens.length === 0) return true;
    this.#keys.dropStale();
    return this.#keys.mayBe(this.#taken);
  }

  get #inFlow(): boolean {
    return this.#keys.depth > 0;
  }

  #push(kind: TokenKind, start: number, end: number): void {
    this.#tokens.push(tokenOf(kind, start, end));
  }

  #fetch(): void {
    const reader = this.#reader;
    this.#skipToToken();
    this.#keys.dropStale();
    this.#unrollIndent(reader.column, reader.offset);
    const unit = reader.peek();
    if (isEnd(unit)) this.#fetchEnd();
    else if (unit === code.percent && reader.column === 0) this.#fetchDirective();
    else if (reader.isDocumentIndicator(code.minus)) this.#fetchIndicator('document-start');
    else if (reader.isDocumentIndicator(code.dot)) this.#fetchIndicator('document-end');
    else this.#fetchContent(unit);
  }

  #fetchContent(unit: number): void {
    const reader = this.#reader;
    const flow = this.#inFlow;
    const mayEnd = flow || isSpaceOrEnd(reader.peek(1));
    if (unit === code.openBracket) this.#fetchFlowStart('flow-sequence-start');
    else if (unit === code.openBrace) this.#fetchFlowStart('flow-mapping-start');
    else if (unit === code.closeBracket) this.#fetchFlowEnd('flow-sequence-end');
    else if (unit === code.closeBrace) this.#fetchFlowEnd('flow-mapping-end');
    else if (unit === code.comma) this.#fetchFlowEntry();
    else if (unit === code.minus && isSpaceOrEnd(reader.peek(1))) this.#fetchBlockEntry();
    else if (unit === code.question && mayEnd) this.#fetchKey();
    else if (unit === code.colon && mayEnd) this.#fetchValue();
    else if (unit === code.asterisk) this.#fetchWord(() => scanAnchor(reader, 'alias'));
    else if (unit === code.ampersand) this.#fetchWord(() => scanAnchor(reader, 'anchor'));
    else if (unit === code.exclamation) this.#fetchWord(() => scanTag(reader, flow));
    else if (unit === code.bar && !flow) this.#fetchBlockScalar(true);
    else if (unit === code.greater && !flow) this.#fetchBlockScalar(false);
    else if (unit === code.apostrophe || unit === code.quote)
      this.#fetchWord(() => scanQuoted(reader, unit));
    else if (isBlank(unit) || isBreak(unit) || indicators.has(unit))
      throw reader.fault(
        'found character that cannot start any token',
        'while scanning for the next token',
      );
    else this.#fetchPlain();
  }

  /** Blanks, comments and line ends. A tab counts as a blank where no key may begin. */
  #skipToToken(): void {
    const reader = this.#reader;
    for (;;) {
      if (reader.peek() === code.byteOrderMark && reader.column === 0) reader.skip();
      for (
        let unit = reader.peek();
        unit === code.space || (unit === code.tab && (this.#inFlow || !this.#keyAllowed));
        unit = reader.peek()
      )
        reader.skip();
      reader.skipComment();
      if (!isBreak(reader.peek())) return;
      reader.takeBreak();
      if (!this.#inFlow) this.#keyAllowed = true;
    }
  }

  #fetchEnd(): void {
    this.#reader.endLine();
    this.#leaveAll();
    this.#take('stream-end', 0);
  }

  #fetchDirective(): void {
    this.#leaveAll();
    this.#tokens.push(scanDirective(this.#reader));
  }

  #fetchIndicator(kind: 'document-start' | 'document-end'): void {
    this.#leaveAll();
    this.#take(kind, 3);
  }

  #leaveAll(): void {
    this.#unrollIndent(-1, this.#reader.offset);
    this.#keys.remove();
    this.#keyAllowed = false;
  }

  #take(kind: TokenKind, units = 1): void {
    const start = this.#reader.offset;
    this.#reader.skip(units);
    this.#push(kind, start, this.#reader.offset);
  }

  #fetchFlowStart(kind: TokenKind): void {
    this.#saveKey();
    this.#keys.enter();
    this.#keyAllowed = true;
    this.#take(kind);
  }

  #fetchFlowEnd(kind: TokenKind): void {
    this.#keys.remove();
    this.#keys.leave();
    this.#keyAllowed = false;
    this.#take(kind);
  }

  #fetchFlowEntry(): void {
    this.#keys.remove();
    this.#keyAllowed = true;
    this.#take('flow-entry');
  }

  /** Whether `-` is allowed between brackets is for the parser to say: it knows the context. */
  #fetchBlockEntry(): void {
    if (!this.#inFlow) this.#rollHere('block-sequence-start', 'block sequence entries');
    this.#keys.remove();
    this.#keyAllowed = true;
    this.#take('block-entry');
  }

  #fetchKey(): void {
    if (!this.#inFlow) this.#rollHere('block-mapping-start', 'mapping keys');
    this.#keys.remove();
    this.#keyAllowed = !this.#inFlow;
    this.#take('key');
  }

  #fetchValue(): void {
    const key = this.#keys.take();
    if (key) {
      const at = key.number - this.#taken;
      this.#tokens.splice(at, 0, tokenOf('key', key.offset, key.offset));
      this.#rollIndent(key.column, 'block-mapping-start', key.offset, at);
      this.#keyAllowed = false;
    } else {
      if (!this.#inFlow) this.#rollHere('block-mapping-start', 'mapping values');
      this.#keyAllowed = !this.#inFlow;
    }
    this.#take('value');
  }

  #fetchWord(scan: () => Token): void {
    this.#saveKey();
    this.#keyAllowed = false;
    this.#tokens.push(scan());
  }

  #fetchBlockScalar(literal: boolean): void {
    this.#keys.remove();
    this.#keyAllowed = true;
    this.#tokens.push(scanBlockScalar(this.#reader, literal, this.#indent));
  }

  #fetchPlain(): void {
    this.#saveKey();
    const { token, endsLine } = scanPlain(this.#reader, this.#inFlow, this.#indent + 1);
    this.#keyAllowed = endsLine;
    this.#tokens.push(token);
  }

  #saveKey(): void {
    if (!this.#keyAllowed) return;
    const required = !this.#inFlow && this.#indent === this.#reader.column;
    this.#keys.save(this.#taken + this.#tokens.length, required);
  }

  /** Begins a block collection at this column, unless one is there already. */
  #rollHere(kind: TokenKind, what: string): void {
    if (!this.#keyAllowed) throw this.#reader.fault(`${what} are not allowed in this context`);
    this.#rollIndent(this.#reader.column, kind, this.#reader.offset, this.#tokens.length);
  }

  #rollIndent(column: number, kind: TokenKind, mark: number, at: number): void {
    if (this.#inFlow || this.#indent >= column) return;
    this.#indents.push(this.#indent);
    this.#indent = column;
    this.#tokens.splice(at, 0, tokenOf(kind, mark, mark));
  }

  #unrollIndent(column: number, mark: number): void {
    if (this.#inFlow) return;
    while (this.#indent > column) {
      this.#push('block-end', mark, mark);
      this.#indent = this.#indents.pop() ?? -1;
    }
  }
}
