import { quoted } from '../values/text.ts';
import type { JinjaExpression, MacroSignature, NameNode, Target } from './ast.ts';
import { parseExpression } from './expressions.ts';
import { describeToken } from './token.ts';
import type { TokenStream } from './token-stream.ts';

const parseName = (stream: TokenStream): NameNode => {
  const { line } = stream.current;
  return { type: 'Name', name: assignable(stream), line };
};

const reserved: ReadonlySet<string> = new Set(['true', 'false', 'none', 'True', 'False', 'None']);

/** A name that may be assigned to. */
export const assignable = (stream: TokenStream): string => {
  if (!stream.is('name')) stream.fail(`unexpected ${quoted(describeToken(stream.current))}`);
  const name = stream.expectName();
  if (reserved.has(name)) stream.fail(`can't assign to ${quoted('const')}`);
  return name;
};

/** Reads an assignment target: a name, names between commas, with `members` also `namespace.name`. */
export const parseTarget = (stream: TokenStream, members = false): Target => {
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

/** One of the names of a target, or names in brackets. */
export const parsePartTarget = (stream: TokenStream, members: boolean): Target => {
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

/** The parameters of a macro, brackets included. */
export const parseSignature = (stream: TokenStream): MacroSignature => {
  const params: string[] = [];
  const defaults: JinjaExpression[] = [];
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
