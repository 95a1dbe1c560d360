import { quoted } from '../values/text.ts';
import type { Statement } from './ast.ts';
import { parseTuple } from './expressions.ts';
import type { TokenStream } from './token-stream.ts';

/** Reads one tag after its name and returns its statements. */
export type TagParser = (parser: StatementParser, line: number) => Statement | Statement[];

/** Parses statements between tags, and knows the end tags that are expected. */
export class StatementParser {
  readonly stream: TokenStream;
  readonly #tags: ReadonlyMap<string, TagParser>;
  readonly #openTags: string[] = [];
  readonly #wanted: (readonly string[])[] = [];
  readonly blockNames = new Set<string>();
  #loops = 0;

  constructor(stream: TokenStream, tags: ReadonlyMap<string, TagParser>) {
    this.stream = stream;
    this.#tags = tags;
  }

  all(): Statement[] {
    return this.#statements([]);
  }

  /** Parses the body of a tag, up to one of the end tags, whose name is returned. */
  body(...ends: readonly string[]): { body: Statement[]; end: string } {
    this.stream.skipOperator(':');
    this.stream.expect('block end');
    const body = this.stream.deeper(() => this.#statements(ends));
    return { body, end: this.stream.next().value };
  }

  /** Parses the body of a loop, in which `break` and `continue` are allowed. */
  loopBody(...ends: readonly string[]): { body: Statement[]; end: string } {
    this.#loops += 1;
    const parsed = this.body(...ends);
    this.#loops -= 1;
    return parsed;
  }

  /** Parses the body of a macro, in which an enclosing loop has no effect. */
  closedBody(end: string): Statement[] {
    const loops = this.#loops;
    this.#loops = 0;
    const { body } = this.body(end);
    this.#loops = loops;
    return body;
  }

  needLoop(tag: string, line: number): void {
    if (this.#loops === 0) this.stream.fail(`${quoted(tag)} outside loop`, line);
  }

  #statements(ends: readonly string[]): Statement[] {
    const { stream } = this;
    const statements: Statement[] = [];
    this.#wanted.push(ends);
    for (;;) {
      const { type, value, line, column } = stream.current;
      if (type === 'eof') {
        if (ends.length > 0) this.#failAtEnd();
        break;
      }
      stream.next();
      if (type === 'text') statements.push({ type: 'Text', text: value, line, column });
      else if (type === 'print begin') {
        statements.push({ type: 'Print', value: parseTuple(stream), line, column });
        stream.expect('print end');
      } else {
        if (stream.is('name') && ends.includes(stream.current.value)) break;
        statements.push(...this.#statement());
        stream.expect('block end');
      }
    }
    this.#wanted.pop();
    return statements;
  }

  #statement(): Statement[] {
    const { type, value, line } = this.stream.current;
    if (type !== 'name') return this.stream.fail('tag name expected');
    const tag = this.#tags.get(value);
    if (!tag) return this.#failUnknown(value);
    this.stream.next();
    this.#openTags.push(value);
    const made = tag(this, line);
    this.#openTags.pop();
    return Array.isArray(made) ? made : [made];
  }

  #failUnknown(name: string): never {
    const wanted = this.#wantedTags();
    const isNestingMistake = this.#wanted.flat().includes(name);
    const looking =
      wanted === ''
        ? ''
        : isNestingMistake
          ? ` You probably made a nesting mistake. Jinja is expecting this tag, but currently looking for ${wanted}.`
          : ` Jinja was looking for the following tags: ${wanted}.`;
    return this.stream.fail(
      `Encountered unknown tag ${quoted(name)}.${looking}${this.#innermost()}`,
    );
  }

  #failAtEnd(): never {
    return this.stream.fail(
      `Unexpected end of template. Jinja was looking for the following tags: ${this.#wantedTags()}.${this.#innermost()}`,
    );
  }

  #wantedTags(): string {
    return (this.#wanted.at(-1) ?? []).map(quoted).join(' or ');
  }

  #innermost(): string {
    const tag = this.#openTags.at(-1);
    return tag === undefined
      ? ''
      : ` The innermost block that needs to be closed is ${quoted(tag)}.`;
  }
}
