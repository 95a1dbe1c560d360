import { float } from '../values/number.ts';
import type { BinaryOperator } from '../values/operators.ts';
import { quoted } from '../values/text.ts';
import type { Value } from '../values/value.ts';
import { parseParts } from './arguments.ts';
import type { ComparisonOperator, FilterNode, JinjaExpression } from './ast.ts';
import { type Grammar, parseChain, parseFilters } from './filters.ts';
import { intLiteral } from './literal.ts';
import { parsePostfix } from './postfix.ts';
import { describeToken } from './token.ts';
import type { TokenStream } from './token-stream.ts';

/** Parses one expression, with or without `… if … else …`. */
export const parseExpression = (stream: TokenStream, withIf = true): JinjaExpression =>
  stream.deeper(() => (withIf ? parseIf(stream) : parseOr(stream)));

/**
 * Parses an expression or, if commas follow, a tuple.
 *
 * @param stop a name that ends it (`recursive` in `for`).
 */
export const parseTuple = (
  stream: TokenStream,
  {
    withIf = true,
    inParens = false,
    stop,
  }: { withIf?: boolean; inParens?: boolean; stop?: string } = {},
): JinjaExpression => {
  const { line } = stream.current;
  const items: JinjaExpression[] = [];
  let isTuple = false;
  for (;;) {
    if (items.length > 0) stream.expect('operator', ',');
    if (isTupleEnd(stream, stop)) break;
    items.push(parseExpression(stream, withIf));
    if (!stream.isOperator(',')) break;
    isTuple = true;
  }
  const [only] = items;
  if (!isTuple && only) return only;
  if (!isTuple && !inParens)
    stream.fail(`Expected an expression, got ${quoted(describeToken(stream.current))}`);
  return { type: 'Tuple', items, line };
};

const isTupleEnd = (stream: TokenStream, stop: string | undefined): boolean =>
  stream.is('print end') ||
  stream.is('block end') ||
  stream.isOperator(')') ||
  (stop !== undefined && stream.isName(stop));

const parseIf = (stream: TokenStream): JinjaExpression => {
  const { line } = stream.current;
  let value = parseOr(stream);
  while (stream.skipName('if')) {
    const test = parseOr(stream);
    const otherwise = stream.skipName('else') ? parseExpression(stream) : undefined;
    value = { type: 'If', test, chosen: value, otherwise, line };
  }
  return value;
};

const parseOr = (stream: TokenStream): JinjaExpression => {
  const { line } = stream.current;
  let left = parseAnd(stream);
  while (stream.skipName('or')) left = { type: 'Or', left, right: parseAnd(stream), line };
  return left;
};

const parseAnd = (stream: TokenStream): JinjaExpression => {
  const { line } = stream.current;
  let left = parseNot(stream);
  while (stream.skipName('and')) left = { type: 'And', left, right: parseNot(stream), line };
  return left;
};

const parseNot = (stream: TokenStream): JinjaExpression => {
  const { line } = stream.current;
  if (!stream.skipName('not')) return parseCompare(stream);
  return { type: 'Not', operand: stream.deeper(() => parseNot(stream)), line };
};

const comparisons: ReadonlySet<string> = new Set(['==', '!=', '<', '<=', '>', '>=']);

const parseCompare = (stream: TokenStream): JinjaExpression => {
  const { line } = stream.current;
  const first = parseSum(stream);
  const rest: [ComparisonOperator, JinjaExpression][] = [];
  for (;;) {
    const comparison = takeComparison(stream);
    if (!comparison) break;
    rest.push([comparison, parseSum(stream)]);
  }
  return rest.length === 0 ? first : { type: 'Compare', first, rest, line };
};

const takeComparison = (stream: TokenStream): ComparisonOperator | undefined => {
  const { type, value } = stream.current;
  if (type === 'operator' && comparisons.has(value))
    return stream.next().value as ComparisonOperator;
  if (stream.skipName('in')) return 'in';
  if (!stream.isName('not') || stream.ahead.type !== 'name' || stream.ahead.value !== 'in')
    return undefined;
  stream.next();
  stream.next();
  return 'not in';
};

const binaryLevel =
  (operators: readonly string[], parseOperand: (stream: TokenStream) => JinjaExpression) =>
  (stream: TokenStream): JinjaExpression => {
    const { line } = stream.current;
    let left = parseOperand(stream);
    while (stream.current.type === 'operator' && operators.includes(stream.current.value)) {
      const operator = stream.next().value as BinaryOperator;
      left = { type: 'Binary', operator, left, right: parseOperand(stream), line };
    }
    return left;
  };

const parseConcat = (stream: TokenStream): JinjaExpression => {
  const { line } = stream.current;
  const first = parseProduct(stream);
  const parts = [first];
  while (stream.skipOperator('~')) parts.push(parseProduct(stream));
  return parts.length === 1 ? first : { type: 'Concat', parts, line };
};

const parseUnary = (stream: TokenStream, withFilter = true): JinjaExpression => {
  const { line } = stream.current;
  const sign = stream.isOperator('-') ? '-' : stream.isOperator('+') ? '+' : undefined;
  let value: JinjaExpression;
  if (sign) {
    stream.next();
    const operand = stream.deeper(() => parseUnary(stream, false));
    value = { type: 'Sign', operator: sign, operand, line };
  } else value = parsePrimary(stream);
  value = parsePostfix(stream, value, grammar.expression);
  return withFilter ? parseFilters(stream, value, grammar) : value;
};

const parsePower = binaryLevel(['**'], stream => parseUnary(stream));
const parseProduct = binaryLevel(['*', '/', '//', '%'], parsePower);
const parseSum = binaryLevel(['+', '-'], parseConcat);

const constants = new Map<string, Value>([
  ['true', true],
  ['True', true],
  ['false', false],
  ['False', false],
  ['none', null],
  ['None', null],
]);

const parsePrimary = (stream: TokenStream): JinjaExpression => {
  const { type, value, line } = stream.current;
  switch (type) {
    case 'name': {
      stream.next();
      const constant = constants.get(value);
      return constant === undefined
        ? { type: 'Name', name: value, line }
        : { type: 'Const', value: constant, line };
    }
    case 'string': {
      let text = '';
      while (stream.is('string')) text += stream.next().value;
      return { type: 'Const', value: text, line };
    }
    case 'int':
      stream.next();
      return { type: 'Const', value: intLiteral(value), line };
    case 'float':
      stream.next();
      return { type: 'Const', value: float(Number(value.replaceAll('_', ''))), line };
    case 'operator':
      if (value === '(') return parseParens(stream);
      if (value === '[') return parseList(stream);
      if (value === '{') return parseDict(stream);
  }
  return stream.fail(`unexpected ${quoted(describeToken(stream.current))}`);
};

const parseParens = (stream: TokenStream): JinjaExpression => {
  stream.next();
  const value = parseTuple(stream, { inParens: true });
  stream.expect('operator', ')');
  return value;
};

const parseList = (stream: TokenStream): JinjaExpression => {
  const { line } = stream.next();
  return { type: 'List', items: parseParts(stream, ']', () => parseExpression(stream)), line };
};

const parseDict = (stream: TokenStream): JinjaExpression => {
  const { line } = stream.next();
  const pairs = parseParts(stream, '}', () => {
    const key = parseExpression(stream);
    stream.expect('operator', ':');
    return [key, parseExpression(stream)] as const;
  });
  return { type: 'Dict', pairs, line };
};

const grammar: Grammar = { expression: stream => parseExpression(stream), primary: parsePrimary };

/** Parses the filters of a block, `name | name(…)`, which receive its text. */
export const parseFilterChain = (stream: TokenStream): FilterNode =>
  parseChain(stream, grammar.expression);
