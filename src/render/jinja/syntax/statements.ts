import { quoted } from '../values/text.ts';
import type { DataFormat, Expression, NameNode, Signature, Statement, Target } from './ast.ts';
import { parseExpression, parseFilterChain, parseTuple } from './expressions.ts';
import { describe } from './token.ts';
import type { TokenStream } from './token-stream.ts';

/** The statements of a whole template. */
export const parseTemplate = (stream: TokenStream): Statement[] =>
  new StatementParser(stream).all();

type Tag = (parser: StatementParser, line: number) => Statement | Statement[];

class StatementParser {
  readonly stream: TokenStream;
  readonly #openTags: string[] = [];
  readonly #wanted: (readonly string[])[] = [];
  readonly blockNames = new Set<string>();
  #loops = 0;

  constructor(stream: TokenStream) {
    this.stream = stream;
  }

  all(): Statement[] {
    return this.#statements([]);
  }

  /** The body of a tag, up to one of the end tags, whose name is taken and given back. */
  body(...ends: readonly string[]): { body: Statement[]; end: string } {
    this.stream.skipOperator(':');
    this.stream.expect('block end');
    const body = this.stream.deeper(() => this.#statements(ends));
    return { body, end: this.stream.next().value };
  }

  /** The body of a loop, where `break` and `continue` may stand. */
  loopBody(...ends: readonly string[]): { body: Statement[]; end: string } {
    this.#loops += 1;
    const parsed = this.body(...ends);
    this.#loops -= 1;
    return parsed;
  }

  /** The body of a macro: no loop around it reaches into it. */
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
      const { type, value, line } = stream.current;
      if (type === 'eof') {
        if (ends.length > 0) this.#failAtEnd();
        break;
      }
      stream.next();
      if (type === 'text') statements.push({ type: 'Text', text: value, line });
      else if (type === 'print begin') {
        statements.push({ type: 'Print', value: parseTuple(stream), line });
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
    const tag = tags.get(value);
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

const parseName = (stream: TokenStream): NameNode => {
  const { line } = stream.current;
  return { type: 'Name', name: assignable(stream), line };
};

const reserved: ReadonlySet<string> = new Set(['true', 'false', 'none', 'True', 'False', 'None']);

const assignable = (stream: TokenStream): string => {
  if (!stream.is('name')) stream.fail(`unexpected ${quoted(describe(stream.current))}`);
  const name = stream.expectName();
  if (reserved.has(name)) stream.fail(`can't assign to ${quoted('const')}`);
  return name;
};

/** What is assigned to: a name, names between commas, with `members` also `namespace.name`. */
const parseTarget = (stream: TokenStream, members = false): Target => {
  const { line } = stream.current;
  const items = [parsePartTarget(stream, members)];
  let isTuple = false;
  while (stream.skipOperator(',')) {
    isTuple = true;
    if (stream.is('block end') || stream.isOperator('=') || stream.isName('in')) break;
    items.push(parsePartTarget(stream, false));
  }
  const [only] = items;
  return !isTuple && only ? only : { type: 'Targets', items, line };
};

const parsePartTarget = (stream: TokenStream, members: boolean): Target => {
  if (stream.skipOperator('(')) {
    const target = stream.deeper(() => parseTarget(stream));
    stream.expect('operator', ')');
    return target;
  }
  const { type, value } = stream.ahead;
  if (!members || type !== 'operator' || value !== '.') return parseName(stream);
  const { line, value: name } = stream.expect('name');
  stream.next();
  return { type: 'Member', name, attribute: stream.expectName(), line };
};

const parseSignature = (stream: TokenStream): Signature => {
  const params: string[] = [];
  const defaults: Expression[] = [];
  stream.expect('operator', '(');
  while (!stream.isOperator(')')) {
    if (params.length > 0) stream.expect('operator', ',');
    if (stream.isOperator(')')) break;
    params.push(assignable(stream));
    if (stream.skipOperator('=')) defaults.push(parseExpression(stream));
    else if (defaults.length > 0) stream.fail('non-default argument follows default argument');
  }
  stream.expect('operator', ')');
  return { params, defaults };
};

/** `with context`, `without context`; nothing gives the tag's default. */
const parseContext = (stream: TokenStream): boolean | undefined => {
  const { value } = stream.current;
  const isModifier = stream.is('name') && (value === 'with' || value === 'without');
  if (!isModifier || stream.ahead.type !== 'name' || stream.ahead.value !== 'context')
    return undefined;
  stream.next();
  stream.next();
  return value === 'with';
};

const forTag: Tag = (parser, line) => {
  const { stream } = parser;
  const target = parseTarget(stream);
  stream.expect('name', 'in');
  const items = parseTuple(stream, { withIf: false, stop: 'recursive' });
  const test = stream.skipName('if') ? parseExpression(stream) : undefined;
  const isRecursive = stream.skipName('recursive');
  const { body, end } = parser.loopBody('endfor', 'else');
  const otherwise = end === 'else' ? parser.body('endfor').body : [];
  return { type: 'For', target, items, test, isRecursive, body, otherwise, line };
};

const ifTag: Tag = (parser, line) => {
  const { stream } = parser;
  const branches: { test: Expression; body: Statement[] }[] = [];
  for (;;) {
    const test = parseTuple(stream, { withIf: false });
    const { body, end } = parser.body('elif', 'else', 'endif');
    branches.push({ test, body });
    if (end === 'elif') continue;
    const otherwise = end === 'else' ? parser.body('endif').body : [];
    return { type: 'Choose', branches, otherwise, line };
  }
};

const withTag: Tag = (parser, line) => {
  const { stream } = parser;
  const pairs: [Target, Expression][] = [];
  while (!stream.is('block end')) {
    if (pairs.length > 0) stream.expect('operator', ',');
    const target = parsePartTarget(stream, false);
    stream.expect('operator', '=');
    pairs.push([target, parseExpression(stream)]);
  }
  return { type: 'With', pairs, body: parser.body('endwith').body, line };
};

const setTag: Tag = (parser, line) => {
  const { stream } = parser;
  const target = parseTarget(stream, true);
  if (stream.skipOperator('=')) return { type: 'Set', target, value: parseTuple(stream), line };
  const filter = stream.skipOperator('|') ? parseFilterChain(stream) : undefined;
  return { type: 'SetBlock', target, filter, body: parser.body('endset').body, line };
};

const macroTag: Tag = (parser, line) => {
  const name = assignable(parser.stream);
  const signature = parseSignature(parser.stream);
  return { type: 'Macro', name, signature, body: parser.closedBody('endmacro'), line };
};

const callTag: Tag = (parser, line) => {
  const { stream } = parser;
  const signature = stream.isOperator('(') ? parseSignature(stream) : { params: [], defaults: [] };
  const call = parseExpression(stream);
  if (call.type !== 'Call') return stream.fail('expected call', line);
  return { type: 'CallBlock', call, signature, body: parser.closedBody('endcall'), line };
};

const filterTag: Tag = (parser, line) => {
  const filter = parseFilterChain(parser.stream);
  return { type: 'FilterBlock', filter, body: parser.body('endfilter').body, line };
};

const autoescapeTag: Tag = (parser, line) => {
  parseExpression(parser.stream);
  return { type: 'Scope', body: parser.body('endautoescape').body, line };
};

const blockTag: Tag = (parser, line) => {
  const { stream } = parser;
  const name = stream.expectName();
  if (parser.blockNames.has(name)) stream.fail(`block ${quoted(name)} defined twice`, line);
  parser.blockNames.add(name);
  const isScoped = stream.skipName('scoped');
  const isRequired = stream.skipName('required');
  if (stream.isOperator('-'))
    stream.fail(
      'Block names in Jinja have to be valid Python identifiers and may not contain hyphens, use an underscore instead.',
    );
  const body = parser.closedBody('endblock');
  if (isRequired && !body.every(node => node.type === 'Text' && node.text.trim() === ''))
    stream.fail('Required blocks can only contain comments or whitespace', line);
  stream.skipName(name);
  return { type: 'Block', name, isScoped, isRequired, body, line };
};

const extendsTag: Tag = ({ stream }, line) => ({
  type: 'Extends',
  template: parseExpression(stream),
  line,
});

const includeTag: Tag = ({ stream }, line) => {
  const template = parseExpression(stream);
  const ignoreMissing = stream.isName('ignore') && stream.ahead.value === 'missing';
  if (ignoreMissing) {
    stream.next();
    stream.next();
  }
  const withContext = parseContext(stream) ?? true;
  return { type: 'Include', template, ignoreMissing, withContext, line };
};

const importTag: Tag = ({ stream }, line) => {
  const template = parseExpression(stream);
  stream.expect('name', 'as');
  const name = assignable(stream);
  return { type: 'Import', template, name, withContext: parseContext(stream) ?? false, line };
};

const fromTag: Tag = ({ stream }, line) => {
  const template = parseExpression(stream);
  stream.expect('name', 'import');
  const names: [string, string][] = [];
  let withContext = parseContext(stream);
  while (withContext === undefined && stream.is('name')) {
    const name = stream.expectName();
    if (name.startsWith('_'))
      stream.fail('names starting with an underline can not be imported', line);
    names.push([name, stream.skipName('as') ? assignable(stream) : name]);
    withContext = parseContext(stream);
    if (withContext !== undefined || !stream.skipOperator(',')) break;
    withContext = parseContext(stream);
  }
  if (names.length === 0) stream.expect('name');
  return { type: 'FromImport', template, names, withContext: withContext ?? false, line };
};

const importDataTag =
  (format: DataFormat): Tag =>
  ({ stream }, line) => {
    const template = parseExpression(stream);
    stream.expect('name', 'as');
    const name = assignable(stream);
    const withContext = parseContext(stream) ?? false;
    return { type: 'ImportData', template, format, name, withContext, line };
  };

const loadDataTag =
  (format: DataFormat): Tag =>
  (parser, line) => {
    parser.stream.expect('name', 'as');
    const target = parseTarget(parser.stream);
    return { type: 'LoadData', format, target, body: parser.body('endload').body, line };
  };

const profileTag: Tag = (parser, line) => {
  parser.stream.expect('name', 'as');
  parseExpression(parser.stream);
  return { type: 'Group', body: parser.body('endprofile').body, line };
};

const printTag: Tag = ({ stream }) => {
  const prints: Statement[] = [];
  while (!stream.is('block end')) {
    if (prints.length > 0) stream.expect('operator', ',');
    const { line } = stream.current;
    prints.push({ type: 'Print', value: parseExpression(stream), line });
  }
  return prints;
};

const doTag: Tag = ({ stream }, line) => ({ type: 'Do', value: parseTuple(stream), line });

const loopTag =
  (type: 'Break' | 'Continue'): Tag =>
  (parser, line) => {
    parser.needLoop(type.toLowerCase(), line);
    return { type, line };
  };

const tags: ReadonlyMap<string, Tag> = new Map<string, Tag>([
  ['for', forTag],
  ['if', ifTag],
  ['with', withTag],
  ['set', setTag],
  ['macro', macroTag],
  ['call', callTag],
  ['filter', filterTag],
  ['autoescape', autoescapeTag],
  ['block', blockTag],
  ['extends', extendsTag],
  ['include', includeTag],
  ['import', importTag],
  ['from', fromTag],
  ['print', printTag],
  ['do', doTag],
  ['break', loopTag('Break')],
  ['continue', loopTag('Continue')],
  ['import_yaml', importDataTag('yaml')],
  ['import_json', importDataTag('json')],
  ['import_text', importDataTag('text')],
  ['load_yaml', loadDataTag('yaml')],
  ['load_json', loadDataTag('json')],
  ['load_text', loadDataTag('text')],
  ['profile', profileTag],
]);
