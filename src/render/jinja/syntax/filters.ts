import { type Parse, parseArgs } from './arguments.ts';
import type { CallArgs, FilterNode, JinjaExpression } from './ast.ts';
import { parseCall, parsePostfix } from './postfix.ts';
import type { TokenStream } from './token-stream.ts';

/** Whole expressions, and the smallest ones. */
export type Grammar = { readonly expression: Parse; readonly primary: Parse };

/** Parses `|filter`, `is test` and further calls after a value. */
export const parseFilters = (
  stream: TokenStream,
  start: JinjaExpression,
  grammar: Grammar,
): JinjaExpression => {
  let value = start;
  for (;;) {
    if (stream.skipOperator('|')) value = parseFilter(stream, value, grammar.expression);
    else if (stream.isName('is')) value = parseTest(stream, value, grammar);
    else if (stream.isOperator('(')) value = parseCall(stream, value, grammar.expression);
    else return value;
  }
};

const noArgs: CallArgs = { list: [], named: [], more: undefined, moreNamed: undefined };

const parseFilter = (
  stream: TokenStream,
  target: JinjaExpression | undefined,
  parseExpression: Parse,
): FilterNode => {
  const { line } = stream.current;
  const name = dottedName(stream);
  const args = stream.isOperator('(') ? parseArgs(stream, parseExpression) : noArgs;
  return { type: 'Filter', target, name, args, line };
};

/** Parses the filters of a block, `name | name(…)`, which receive its text. */
export const parseChain = (stream: TokenStream, parseExpression: Parse): FilterNode => {
  let chain = parseFilter(stream, undefined, parseExpression);
  while (stream.skipOperator('|')) chain = parseFilter(stream, chain, parseExpression);
  return chain;
};

const dottedName = (stream: TokenStream): string => {
  let name = stream.expectName();
  while (stream.skipOperator('.')) name += `.${stream.expectName()}`;
  return name;
};

const parseTest = (
  stream: TokenStream,
  target: JinjaExpression,
  grammar: Grammar,
): JinjaExpression => {
  const { line } = stream.next();
  const isNegated = stream.skipName('not');
  const name = dottedName(stream);
  const args = stream.isOperator('(')
    ? parseArgs(stream, grammar.expression)
    : testArgument(stream, grammar);
  const test: JinjaExpression = { type: 'Test', target, name, args, line };
  return isNegated ? { type: 'Not', operand: test, line } : test;
};

/** `x is divisibleby 3`: a single argument needs no brackets. */
const testArgument = (stream: TokenStream, { expression, primary }: Grammar): CallArgs => {
  const { type, value } = stream.current;
  const isArgument =
    type === 'string' ||
    type === 'int' ||
    type === 'float' ||
    (type === 'name' && !['else', 'or', 'and'].includes(value)) ||
    (type === 'operator' && (value === '[' || value === '{'));
  if (!isArgument) return noArgs;
  if (stream.isName('is')) stream.fail('You cannot chain multiple tests with is');
  return { ...noArgs, list: [parsePostfix(stream, primary(stream), expression)] };
};
