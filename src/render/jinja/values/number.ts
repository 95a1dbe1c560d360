import { Float } from '../../../data/values/value.ts';
import { raise, raiseLimit } from '../jinja-error.ts';
import type { Value } from './value.ts';

/** Makes a Python float: a `Float` if a JavaScript number would be taken for an int. */
export const float = (value: number): number | Float =>
  Number.isInteger(value) || !Number.isFinite(value) ? new Float(value) : value;

/** Makes a Python int: a bigint only beyond the exact range of numbers. */
export const int = (value: bigint): number | bigint =>
  value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER)
    ? Number(value)
    : value;

export const isFloat = (value: Value): value is number | Float =>
  value instanceof Float || (typeof value === 'number' && !Number.isInteger(value));

export const isInt = (value: Value): value is number | bigint =>
  typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value));

/** Ints, floats and, as in Python, booleans. */
export const isNumeric = (value: Value): value is number | bigint | boolean | Float =>
  typeof value === 'number' ||
  typeof value === 'bigint' ||
  typeof value === 'boolean' ||
  value instanceof Float;

/** Returns the JavaScript number or bigint that compares like the Python value. */
export const numeric = (value: number | bigint | boolean | Float): number | bigint => {
  if (typeof value === 'boolean') return Number(value);
  return value instanceof Float ? value.value : value;
};

/** Returns a small integer, such as an index or a width. */
export const wholeNumber = (value: Value): number | undefined => {
  if (typeof value === 'boolean') return Number(value);
  if (typeof value === 'number' && Number.isInteger(value)) return value;
  return typeof value === 'bigint' ? Number(value) : undefined;
};

type Operation = '+' | '-' | '*' | '/' | '//' | '%' | '**';

/** Python's arithmetic on numbers. */
export const calculate = (
  operation: Operation,
  left: number | bigint | boolean | Float,
  right: number | bigint | boolean | Float,
): Value => {
  const a = numeric(left);
  const b = numeric(right);
  if (isFloat(left) || isFloat(right)) return floats(operation, Number(a), Number(b));
  if (typeof a === 'number' && typeof b === 'number') {
    const quick = smallInts(operation, a, b);
    if (quick !== undefined) return quick;
  }
  return bigInts(operation, BigInt(a), BigInt(b));
};

/** Calculates with ints if the result is a safe number; otherwise `undefined`. */
const smallInts = (operation: Operation, a: number, b: number): Value | undefined => {
  const result = smallResult(operation, a, b);
  return Number.isSafeInteger(result) ? result + 0 : undefined;
};

const smallResult = (operation: Operation, a: number, b: number): number => {
  switch (operation) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    case '//':
      return b === 0 ? Number.NaN : Math.floor(a / b);
    case '%':
      return b === 0 ? Number.NaN : a - b * Math.floor(a / b);
    default:
      return Number.NaN;
  }
};

const largestBits = 100_000;

const bigInts = (operation: Operation, a: bigint, b: bigint): Value => {
  switch (operation) {
    case '+':
      return int(a + b);
    case '-':
      return int(a - b);
    case '*':
      if (bits(a) + bits(b) > largestBits) raiseLimit('The number grew too long');
      return int(a * b);
    case '/':
      if (b === 0n) raise('division by zero');
      return float(Number(a) / Number(b));
    case '**':
      if (b < 0n) return float(Number(a) ** Number(b));
      if (bits(a) > 1 && BigInt(bits(a)) * b > BigInt(largestBits))
        raiseLimit('The number grew too long');
      return int(a ** b);
    default: {
      if (b === 0n)
        raise(operation === '%' ? 'integer modulo by zero' : 'integer division or modulo by zero');
      const rest = ((a % b) + b) % b;
      return operation === '%' ? int(rest) : int((a - rest) / b);
    }
  }
};

const bits = (value: bigint): number => value.toString(16).replace('-', '').length * 4;

const floats = (operation: Operation, a: number, b: number): Value => {
  switch (operation) {
    case '+':
      return float(a + b);
    case '-':
      return float(a - b);
    case '*':
      return float(a * b);
    case '**':
      if (a === 0 && b < 0) raise('0.0 cannot be raised to a negative power');
      return float(a ** b);
    case '/':
      if (b === 0) raise('float division by zero');
      return float(a / b);
    default: {
      if (b === 0) raise(operation === '%' ? 'float modulo' : 'float floor division by zero');
      const rest = a % b;
      const modulo = rest !== 0 && rest < 0 !== b < 0 ? rest + b : rest;
      return operation === '%' ? float(modulo) : float(Math.round((a - modulo) / b));
    }
  }
};
