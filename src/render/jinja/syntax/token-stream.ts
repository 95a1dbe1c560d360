import { JinjaError, type TemplateSource } from '../jinja-error.ts';
import { quoted } from '../values/text.ts';
import type { Lexed } from './lexer.ts';
import { describeToken, type JinjaToken, type TokenType } from './token.ts';

/** The maximum nesting of brackets and blocks. */
const deepest = 200;

/**
 * Reads tokens one after the other, with a lookahead of one. An error of the lexer is thrown only
 * when the parser reaches it, so that earlier errors are reported first.
 */
export class TokenStream {
  readonly source: TemplateSource;
  readonly #tokens: readonly JinjaToken[];
  readonly #fault: JinjaError | undefined;
  #at = 0;
  #depth = 0;

  constructor(source: TemplateSource, { tokens, fault }: Lexed) {
    this.source = source;
    this.#tokens = tokens;
    this.#fault = fault;
  }

  get current(): JinjaToken {
    return this.#token(this.#at);
  }

  get ahead(): JinjaToken {
    return this.#token(this.#at + 1);
  }

  next(): JinjaToken {
    const token = this.current;
    this.#at += 1;
    if (this.#fault) this.#token(this.#at);
    return token;
  }

  #token(at: number): JinjaToken {
    const token = this.#tokens[at];
    if (token) return token;
    if (this.#fault) throw this.#fault;
    return end;
  }

  is(type: TokenType, value?: string): boolean {
    return this.current.type === type && (value === undefined || this.current.value === value);
  }

  isOperator(value: string): boolean {
    return this.is('operator', value);
  }

  isName(value: string): boolean {
    return this.is('name', value);
  }

  /** Skips the operator if it is next. */
  skipOperator(value: string): boolean {
    return this.isOperator(value) && this.next() !== undefined;
  }

  skipName(value: string): boolean {
    return this.isName(value) && this.next() !== undefined;
  }

  /** Reads a token, which must be next. */
  expect(type: TokenType, value?: string): JinjaToken {
    if (this.is(type, value)) return this.next();
    const wanted = describeToken({ type, value: value ?? type });
    if (this.is('eof')) this.fail(`unexpected end of template, expected ${quoted(wanted)}.`);
    return this.fail(
      `expected token ${quoted(wanted)}, got ${quoted(describeToken(this.current))}`,
    );
  }

  expectName(): string {
    return this.expect('name').value;
  }

  /** Parses one level deeper. */
  deeper<T>(parse: () => T): T {
    this.#depth += 1;
    if (this.#depth > deepest) this.fail('too many nested parentheses or blocks');
    const result = parse();
    this.#depth -= 1;
    return result;
  }

  fail(reason: string, line = this.current.line): never {
    throw new JinjaError('syntax', reason, { spot: { source: this.source, line } });
  }
}

const end: JinjaToken = { type: 'eof', value: '', line: 0, column: 1 };
