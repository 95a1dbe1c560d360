import type { CallArgs, JinjaExpression } from './ast.ts';
import type { TokenStream } from './token-stream.ts';

/** How an expression is read: what stands inside of brackets is one again. */
export type Parse = (stream: TokenStream) => JinjaExpression;

/** Parts between commas, up to the closing bracket; a comma may stand before it. */
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
