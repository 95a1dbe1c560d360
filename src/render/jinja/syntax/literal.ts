/** Returns the value of a Python string literal without its quotes: an unknown escape keeps its backslash. */
export const unescapeLiteral = (literal: string): string =>
  literal.includes('\\') ? literal.replace(escapes, meaning) : literal;

const escapes =
  /\\(?:\n|[\\'"abfnrtv]|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-7]{1,3})/g;

const letters = new Map([
  ['\n', ''],
  ['\\', '\\'],
  ["'", "'"],
  ['"', '"'],
  ['a', '\x07'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['v', '\v'],
]);

const meaning = (whole: string): string => {
  const code = whole.slice(1);
  const letter = letters.get(code);
  if (letter !== undefined) return letter;
  if (/^[0-7]/.test(code)) return String.fromCharCode(Number.parseInt(code, 8));
  const point = Number.parseInt(code.slice(1), 16);
  return point <= 0x10ffff ? String.fromCodePoint(point) : whole;
};

/** The value of an int literal: `42`, `1_000`, `0x1f`, `0o17`, `0b1`. */
export const intLiteral = (literal: string): number | bigint => {
  const digits = literal.replaceAll('_', '').toLowerCase();
  const value = Number(digits);
  return Number.isSafeInteger(value) ? value : BigInt(digits);
};
