import { JinjaError, type TemplateSource } from '../jinja-error.ts';
import { quoted } from '../values/text.ts';
import { unescapeLiteral } from './literal.ts';
import type { SyntaxOptions } from './options.ts';
import { type Opening, type TagPatterns, tagPatterns } from './tag-patterns.ts';
import type { JinjaToken, TokenType } from './token.ts';

/** The tokens of a template, up to its end or to its first error. */
export type Lexed = { readonly tokens: readonly JinjaToken[]; readonly fault?: JinjaError };

/** Splits a template into tokens, without comments and after whitespace control. */
export const tokenize = (source: TemplateSource, options: SyntaxOptions): Lexed =>
  new Lexer(source, options).run();

const operators = /\*\*|\/\/|==|!=|>=|<=|[-+/*%~[\](){}><=.:|,;]/y;
const space = /\s+/y;
const name = /[\p{L}\p{M}\p{N}\p{Pc}]+/uy;
const floatNumber = /(?:\d+_)*\d+(?:(?:\.(?:\d+_)*\d+)?[eE][-+]?(?:\d+_)*\d+|\.(?:\d+_)*\d+)/y;
const intNumber =
  /0[bB](?:_?[01])+|0[oO](?:_?[0-7])+|0[xX](?:_?[\da-fA-F])+|[1-9](?:_?\d)*|0(?:_?0)*/y;
const string = /'[^'\\]*(?:\\[\s\S][^'\\]*)*'|"[^"\\]*(?:\\[\s\S][^"\\]*)*"/y;
const closers = new Map([
  ['(', ')'],
  ['[', ']'],
  ['{', '}'],
]);

class Lexer {
  readonly #source: TemplateSource;
  readonly #options: SyntaxOptions;
  readonly #patterns: TagPatterns;
  readonly #text: string;
  readonly #tokens: JinjaToken[] = [];
  #at = 0;
  #line = 1;
  #lineStart = 0;
  /** The column of the last opening of a tag. */
  #tagColumn = 1;
  /**
   * The end of the current line, kept because searching it for each token of a long line is slow.
   */
  #lineEnd: number;
  /** Whether the last tag ended with a line end. */
  #isLineStart = true;

  constructor(source: TemplateSource, options: SyntaxOptions) {
    this.#source = source;
    this.#options = options;
    this.#patterns = tagPatterns(options);
    const text = source.text.replace(/\r\n|\r/g, '\n');
    this.#text = options.keepTrailingNewline ? text : text.replace(/\n$/, '');
    this.#lineEnd = this.#endOfLine(0);
  }

  run(): Lexed {
    try {
      this.#all();
    } catch (fault) {
      if (fault instanceof JinjaError) return { tokens: this.#tokens, fault };
      throw fault;
    }
    return { tokens: this.#tokens };
  }

  #all(): void {
    for (;;) {
      const opening = this.#patterns.next(this.#text, this.#at);
      if (!opening) break;
      this.#before(opening);
      this.#tagColumn = this.#column;
      this.#advance(opening.end);
      this.#inside(opening);
    }
    this.#data(this.#text.slice(this.#at));
    this.#advance(this.#text.length);
    // Jinja reports an error at the end with the line of the last token.
    const line = this.#tokens.at(-1)?.line ?? 1;
    this.#tokens.push({ type: 'eof', value: '', line, column: 1 });
  }

  /** Adds the text before a tag, stripped as the tag requires. */
  #before({ start, sign, type }: Opening): void {
    const text = this.#text.slice(this.#at, start);
    if (sign === '-') this.#data(text.trimEnd());
    else if (sign !== '+' && this.#options.lstripBlocks && type !== 'print')
      this.#data(this.#withoutIndent(text));
    else this.#data(text);
    this.#advance(start);
  }

  #withoutIndent(text: string): string {
    const lineStart = text.lastIndexOf('\n') + 1;
    const isIndent = (lineStart > 0 || this.#isLineStart) && text.slice(lineStart).trim() === '';
    return isIndent ? text.slice(0, lineStart) : text;
  }

  #inside({ type }: Opening): void {
    if (type === 'comment') this.#skip(this.#patterns.commentEnd, 'Missing end of comment tag');
    else if (type === 'line comment') this.#skip(/.*/y, '');
    else if (type === 'raw') this.#raw();
    else if (type === 'line statement') this.#tag('block begin', 'block end', /\s*(?:\n|$)/y);
    else if (type === 'block') this.#tag('block begin', 'block end', this.#patterns.blockEnd);
    else this.#tag('print begin', 'print end', this.#patterns.variableEnd);
    this.#isLineStart = this.#text[this.#at - 1] === '\n';
  }

  #skip(end: RegExp, complaint: string): void {
    end.lastIndex = this.#at;
    if (!end.test(this.#text)) this.#fail(complaint);
    this.#advance(end.lastIndex);
  }

  #raw(): void {
    const end = this.#patterns.rawEnd;
    end.lastIndex = this.#at;
    if (this.#at === this.#text.length) return;
    const found = end.exec(this.#text) ?? this.#fail('Missing end of raw directive');
    const body = this.#text.slice(this.#at, found.index);
    this.#data(
      found[1] === '-'
        ? body.trimEnd()
        : found[1] !== '+' && this.#options.lstripBlocks
          ? this.#withoutIndent(body)
          : body,
    );
    this.#advance(end.lastIndex);
  }

  #tag(begin: TokenType, end: TokenType, closing: RegExp): void {
    this.#push(begin, '', this.#tagColumn);
    const open: string[] = [];
    while (this.#at < this.#text.length) {
      if (open.length === 0 && this.#takes(closing)) {
        this.#push(end, '');
        this.#advance(closing.lastIndex);
        return;
      }
      if (this.#takes(space)) this.#advance(space.lastIndex);
      else this.#word(open);
    }
    if (closing.test('')) this.#push(end, '');
  }

  #word(open: string[]): void {
    if (this.#takes(floatNumber)) this.#literal('float', floatNumber);
    else if (this.#takes(intNumber)) this.#literal('int', intNumber);
    else if (this.#takes(name)) this.#name();
    else if (this.#takes(string)) {
      const raw = this.#text.slice(this.#at + 1, string.lastIndex - 1);
      this.#push('string', unescapeLiteral(raw));
      this.#advance(string.lastIndex);
    } else if (this.#takes(operators)) {
      this.#balance(this.#text.slice(this.#at, operators.lastIndex), open);
      this.#literal('operator', operators);
    } else this.#fail(`unexpected char ${quoted(this.#char())} at ${this.#at}`);
  }

  get #column(): number {
    return this.#at - this.#lineStart + 1;
  }

  #char(): string {
    return String.fromCodePoint(this.#text.codePointAt(this.#at) ?? 0);
  }

  #name(): void {
    if (/^[\p{N}\p{M}]/u.test(this.#char())) this.#fail('Invalid character in identifier');
    this.#literal('name', name);
  }

  #balance(operator: string, open: string[]): void {
    const closer = closers.get(operator);
    if (closer !== undefined) open.push(closer);
    else if (operator === ')' || operator === ']' || operator === '}') {
      const wanted = open.pop();
      if (wanted === undefined) this.#fail(`unexpected '${operator}'`);
      if (wanted !== operator) this.#fail(`unexpected '${operator}', expected '${wanted}'`);
    }
  }

  #takes(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    return pattern.test(this.#text) && pattern.lastIndex > this.#at;
  }

  #literal(type: TokenType, pattern: RegExp): void {
    this.#push(type, this.#text.slice(this.#at, pattern.lastIndex));
    this.#advance(pattern.lastIndex);
  }

  #data(text: string): void {
    if (text === '') return;
    const { newline } = this.#options;
    this.#push('text', newline === '\n' ? text : text.replaceAll('\n', newline), this.#column);
  }

  #push(type: TokenType, value: string, column = 0): void {
    this.#tokens.push({ type, value, line: this.#line, column });
  }

  #advance(to: number): void {
    while (this.#lineEnd < to) {
      this.#line += 1;
      this.#lineStart = this.#lineEnd + 1;
      this.#lineEnd = this.#endOfLine(this.#lineEnd + 1);
    }
    this.#at = to;
  }

  #endOfLine(from: number): number {
    const found = this.#text.indexOf('\n', from);
    return found < 0 ? this.#text.length : found;
  }

  #fail(reason: string): never {
    throw new JinjaError('syntax', reason, { spot: { source: this.#source, line: this.#line } });
  }
}
