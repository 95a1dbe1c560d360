import { type Parse, parseArgs } from './arguments.ts';
import type { CallNode, JinjaExpression } from './ast.ts';
import { intLiteral } from './literal.ts';
import type { TokenStream } from './token-stream.ts';

/** Parses `.name`, `[key]` and `(…)` after a value. */
export const parsePostfix = (
  stream: TokenStream,
  start: JinjaExpression,
  parseExpression: Parse,
): JinjaExpression => {
  let value = start;
  for (;;) {
    if (stream.isOperator('.')) value = parseAttribute(stream, value);
    else if (stream.isOperator('[')) value = parseSubscript(stream, value, parseExpression);
    else if (stream.isOperator('(')) value = parseCall(stream, value, parseExpression);
    else return value;
  }
};

const parseAttribute = (stream: TokenStream, target: JinjaExpression): JinjaExpression => {
  const { line } = stream.next();
  const { type, value } = stream.next();
  if (type === 'name') return { type: 'Attribute', target, name: value, line };
  if (type !== 'int') return stream.fail('expected name or number', line);
  return { type: 'Item', target, key: { type: 'Const', value: intLiteral(value), line }, line };
};

const parseSubscript = (
  stream: TokenStream,
  target: JinjaExpression,
  parseExpression: Parse,
): JinjaExpression => {
  const { line } = stream.next();
  const subscript = parseSubscripted(stream, target, line, parseExpression);
  if (subscript.type !== 'Item' || stream.skipOperator(']')) {
    if (subscript.type !== 'Item') stream.expect('operator', ']');
    return subscript;
  }
  const items = [subscript.key];
  while (stream.skipOperator(',')) {
    if (stream.isOperator(']')) break;
    items.push(parseExpression(stream));
  }
  stream.expect('operator', ']');
  return { type: 'Item', target, key: { type: 'Tuple', items, line }, line };
};

const parseSubscripted = (
  stream: TokenStream,
  target: JinjaExpression,
  line: number,
  parseExpression: Parse,
): JinjaExpression => {
  const bound = (): JinjaExpression | undefined =>
    stream.isOperator(':') || stream.isOperator(']') ? undefined : parseExpression(stream);
  if (stream.isOperator(']')) stream.fail("unexpected ']'");
  const start = bound();
  if (start && !stream.isOperator(':')) return { type: 'Item', target, key: start, line };
  stream.expect('operator', ':');
  const stop = bound();
  const step = stream.skipOperator(':') ? bound() : undefined;
  return { type: 'Slice', target, start, stop, step, line };
};

export const parseCall = (
  stream: TokenStream,
  callee: JinjaExpression,
  parseExpression: Parse,
): CallNode => {
  const { line } = stream.current;
  return { type: 'Call', callee, args: parseArgs(stream, parseExpression), line };
};
