import { raise, raiseLimit } from '../jinja-error.ts';
import { contains, needRoom } from './iterate.ts';
import { calculate, int, isFloat, isNumeric, numeric, wholeNumber } from './number.ts';
import { percentFormat } from './percent.ts';
import { longestText, typeName } from './text.ts';
import { PySet } from './things.ts';
import { Undefined } from './undefined.ts';
import { isTuple, tuple, type Value } from './value.ts';

export type BinaryOperator = '+' | '-' | '*' | '/' | '//' | '%' | '**';

/** Python's binary operators. */
export const binary = (operator: BinaryOperator, left: Value, right: Value): Value => {
  if (isNumeric(left) && isNumeric(right)) return calculate(operator, left, right);
  for (const value of [left, right]) if (value instanceof Undefined) value.raise();
  const result =
    operator === '+'
      ? add(left, right)
      : operator === '*'
        ? (repeat(left, right) ?? repeat(right, left))
        : operator === '%' && typeof left === 'string'
          ? percentFormat(left, right)
          : operator === '-' && left instanceof PySet && right instanceof PySet
            ? new PySet(left.items().filter(item => !contains(right, item)))
            : undefined;
  return result ?? unsupported(operator, left, right);
};

const add = (left: Value, right: Value): Value | undefined => {
  if (typeof left === 'string')
    return typeof right === 'string'
      ? joined(left, right)
      : raise(`can only concatenate str (not "${typeName(right)}") to str`);
  if (!Array.isArray(left)) return undefined;
  if (!Array.isArray(right) || isTuple(left) !== isTuple(right)) {
    const kind = typeName(left);
    return raise(`can only concatenate ${kind} (not "${typeName(right)}") to ${kind}`);
  }
  needRoom(left.length + right.length);
  return isTuple(left) ? tuple([...left, ...right]) : [...left, ...right];
};

const joined = (left: string, right: string): string => {
  if (left.length + right.length > longestText) raiseLimit('A text grew too long');
  return left + right;
};

const repeat = (value: Value, times: Value): Value | undefined => {
  const count = Math.max(0, wholeNumber(times) ?? -1);
  if (wholeNumber(times) === undefined) return undefined;
  if (typeof value === 'string') return repeatText(value, count);
  if (!Array.isArray(value)) return undefined;
  needRoom(value.length * count);
  const items = Array.from({ length: count }, () => [...value]).flat();
  return isTuple(value) ? tuple(items) : items;
};

/** Repeats a text, within limits. */
export const repeatText = (text: string, count: number): string => {
  if (text.length * count > longestText) raiseLimit('A text grew too long');
  return text.repeat(Math.max(0, count));
};

const unsupported = (operator: string, left: Value, right: Value): never =>
  raise(
    `unsupported operand type(s) for ${operator === '**' ? '** or pow()' : operator}: '${typeName(left)}' and '${typeName(right)}'`,
  );

/** Python's `-value`. */
export const negative = (value: Value): Value => {
  if (value instanceof Undefined) value.raise();
  if (!isNumeric(value)) return raise(`bad operand type for unary -: '${typeName(value)}'`);
  if (isFloat(value)) return calculate('*', value, -1);
  const number = numeric(value);
  return typeof number === 'bigint' ? int(-number) : 0 - number;
};

/** Python's `+value`. */
export const positive = (value: Value): Value => {
  if (value instanceof Undefined) value.raise();
  if (!isNumeric(value)) return raise(`bad operand type for unary +: '${typeName(value)}'`);
  return typeof value === 'boolean' ? Number(value) : value;
};
