import { openBlock } from '../script/block.ts';
import { expressionEnd, splitFilters } from '../script/expression.ts';
import { ScriptProgram, scriptSyntaxError } from '../script/program.ts';
import { closeTag, type MakoTag, openTag, tagAttributes } from './tags.ts';

/**
 * Mako's syntax with JavaScript expressions: `${…}` (awaited; `| h, trim` behind), `% for x in
 * list:` … `% endfor` with `loop`, `##` and `<%doc>` comments, `<% code %>`, `<%text>`,
 * `<%include>`, `<%def>`, `<%block>`, `<%inherit>`, `<%namespace>`; a backslash at a line's end
 * joins lines.
 */
export const compileMako = (source: string): ScriptProgram => new Scanner(source).scan();

const ends: Readonly<Record<string, string>> = {
  endif: 'if',
  endfor: 'for',
  endwhile: 'while',
  endtry: 'try',
};

type Open = MakoTag | { readonly word: string; readonly line: number };

const isTag = (open: Open | undefined): open is MakoTag =>
  open !== undefined && 'attributes' in open;

/** Reads a template from its beginning to its end. */
class Scanner {
  readonly #program = new ScriptProgram();
  readonly #source: string;
  readonly #open: Open[] = [];
  #at = 0;
  #line = 1;

  constructor(source: string) {
    this.#source = source;
  }

  scan(): ScriptProgram {
    while (this.#at < this.#source.length)
      this.#controlLine() || this.#tag() || this.#code() || this.#expression() || this.#text();
    const left = this.#open.at(-1);
    if (!left) return this.#program;
    throw scriptSyntaxError(
      isTag(left)
        ? `<%${left.name}> is not closed: </%${left.name}> is missing`
        : `% ${left.word} is not closed: % end${left.word} is missing`,
      left.line,
    );
  }

  #controlLine(): boolean {
    if (!this.#isLineStart) return false;
    const found = this.#match(/[ \t]*(%(?!%)|##)([^\n]*(?:\\\n[^\n]*)*)(?:\n|$)/y);
    if (!found) return false;
    const start = this.#line;
    this.#advance(found[0].length);
    if (found[1] === '%') this.#control((found[2] ?? '').replaceAll('\\\n', ' ').trim(), start);
    return true;
  }

  #control(code: string, line: number): void {
    const word = /^\w+/.exec(code)?.[0] ?? '';
    const last = this.#open.at(-1);
    if (Object.hasOwn(ends, word)) {
      if (isTag(last) || last?.word !== ends[word])
        throw scriptSyntaxError(`% ${word} closes no % ${ends[word]}`, line);
      this.#open.pop();
      this.#program.glue('}');
      return;
    }
    const block = openBlock(code, line, '$loop');
    if (!block) throw scriptSyntaxError(`'% ${code}' is not a control line`, line);
    if (!block.close) {
      this.#open.push({ word, line });
      this.#program.code(block.open, line);
    } else if (last === undefined || isTag(last))
      throw scriptSyntaxError(`% ${word} is outside of a block`, line);
    else this.#program.glue(block.open);
  }

  #tag(): boolean {
    const closing = this.#match(/<\/%\s*(\w+)\s*>/y);
    if (closing) {
      const last = this.#open.at(-1);
      if (!isTag(last) || last.name !== closing[1])
        throw scriptSyntaxError(`</%${closing[1]}> closes no <%${closing[1]}>`, this.#line);
      this.#open.pop();
      this.#advance(closing[0].length);
      closeTag(last, this.#program);
      return true;
    }
    const found = this.#match(/<%([\w.:]+)((?:"[^"]*"|'[^']*'|[^"'>])*?)\s*(\/?)>/y);
    if (!found) return false;
    const [whole, name = '', written = '', slash] = found;
    const tag: MakoTag = { name, line: this.#line, attributes: tagAttributes(written, this.#line) };
    this.#advance(whole.length);
    if (name === 'doc' || name === 'text') {
      const body = slash ? '' : this.#until(`</%${name}>`, `<%${name}>`);
      if (name === 'text') this.#program.text(body);
    } else if (openTag(tag, slash === '/', this.#program)) this.#open.push(tag);
    return true;
  }

  #code(): boolean {
    const start = this.#line;
    const found = this.#match(/<%(!?)/y);
    if (!found) return false;
    this.#advance(found[0].length);
    const code = this.#until('%>', '<%');
    if (found[1]) this.#program.shared(code, start);
    else this.#program.code(code, start);
    return true;
  }

  #expression(): boolean {
    if (!this.#source.startsWith('${', this.#at)) return false;
    const start = this.#line;
    this.#advance(2);
    const end = expressionEnd(this.#source, this.#at, '}', start);
    const [expression, filters] = splitFilters(this.#advance(end - this.#at));
    this.#advance(1);
    this.#program.print(expression, start, filters);
    return true;
  }

  /** Reads text up to the end of its line, or up to a tag or expression. */
  #text(): true {
    const join = this.#match(/\\\r?\n/y);
    if (join) {
      this.#advance(join[0].length);
      return true;
    }
    const atStart = this.#isLineStart;
    const found = this.#match(/(?:[^$<\\\n]|\$(?!\{)|<(?!\/?%)|\\(?!\r?\n))*\n?/y);
    const text = this.#advance(Math.max(1, found?.[0].length ?? 0));
    this.#program.text(atStart ? text.replace(/^([ \t]*)%%/, '$1%') : text);
    return true;
  }

  get #isLineStart(): boolean {
    return this.#at === 0 || this.#source.charAt(this.#at - 1) === '\n';
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    return pattern.exec(this.#source);
  }

  #advance(length: number): string {
    const part = this.#source.slice(this.#at, this.#at + length);
    this.#at += length;
    this.#line += part.split('\n').length - 1;
    return part;
  }

  #until(end: string, what: string): string {
    const found = this.#source.indexOf(end, this.#at);
    if (found < 0) throw scriptSyntaxError(`${what} is not closed: ${end} is missing`, this.#line);
    const body = this.#advance(found - this.#at);
    this.#advance(end.length);
    return body;
  }
}
