import type { CallArgs, JinjaExpression } from './ast.ts';
import type { TokenStream } from './token-stream.ts';

/** Parses an expression; the content of brackets is one as well. */
export type Parse = (stream: TokenStream) => JinjaExpression;

/** Parses parts separated by commas, up to the closing bracket; a trailing comma is allowed. */
export const parseParts = <T>(stream: TokenStream, close: string, parse: () => T): T[] => {
  const parts: T[] = [];
  while (!stream.isOperator(close)) {
    if (parts.length > 0) stream.expect('operator', ',');
    if (stream.isOperator(close)) break;
    parts.push(parse());
  }
  stream.expect('operator', close);
  return parts;
};

/** The arguments of a call, filter or test, brackets included. */
export const parseArgs = (stream: TokenStream, parseExpression: Parse): CallArgs => {
  const list: JinjaExpression[] = [];
  const named: [string, JinjaExpression][] = [];
  let more: JinjaExpression | undefined;
  let moreNamed: JinjaExpression | undefined;
  const { line } = stream.expect('operator', '(');
  const ensure = (isRight: boolean): void => {
    if (!isRight) stream.fail('invalid syntax for function call expression', line);
  };
  parseParts(stream, ')', () => {
    if (stream.skipOperator('*')) {
      ensure(!more && !moreNamed);
      more = parseExpression(stream);
    } else if (stream.skipOperator('**')) {
      ensure(!moreNamed);
      moreNamed = parseExpression(stream);
    } else if (
      stream.is('name') &&
      stream.ahead.type === 'operator' &&
      stream.ahead.value === '='
    ) {
      ensure(!moreNamed);
      const name = stream.next().value;
      stream.next();
      named.push([name, parseExpression(stream)]);
    } else {
      ensure(!more && !moreNamed && named.length === 0);
      list.push(parseExpression(stream));
    }
  });
  return { list, named, more, moreNamed };
};
