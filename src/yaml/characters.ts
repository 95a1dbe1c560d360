/** Code units that mean something to YAML. */
export const code = {
  tab: 0x09,
  lineFeed: 0x0a,
  return: 0x0d,
  space: 0x20,
  exclamation: 0x21,
  quote: 0x22,
  hash: 0x23,
  percent: 0x25,
  ampersand: 0x26,
  apostrophe: 0x27,
  asterisk: 0x2a,
  plus: 0x2b,
  comma: 0x2c,
  minus: 0x2d,
  dot: 0x2e,
  zero: 0x30,
  nine: 0x39,
  colon: 0x3a,
  less: 0x3c,
  greater: 0x3e,
  question: 0x3f,
  at: 0x40,
  openBracket: 0x5b,
  backslash: 0x5c,
  closeBracket: 0x5d,
  backtick: 0x60,
  openBrace: 0x7b,
  bar: 0x7c,
  closeBrace: 0x7d,
  byteOrderMark: 0xfeff,
} as const;

/** Beyond the end of the text `charCodeAt` gives NaN; only it is not equal to itself. */
export const isEnd = (unit: number): boolean => Number.isNaN(unit);

export const isBlank = (unit: number): boolean => unit === code.space || unit === code.tab;

/** YAML 1.1 also ends lines with NEL, LS and PS. */
export const isBreak = (unit: number): boolean =>
  unit === code.lineFeed ||
  unit === code.return ||
  unit === 0x85 ||
  unit === 0x2028 ||
  unit === 0x2029;

export const isBreakOrEnd = (unit: number): boolean => isBreak(unit) || isEnd(unit);

export const isSpaceOrEnd = (unit: number): boolean =>
  isBlank(unit) || isBreak(unit) || isEnd(unit);

export const isDigit = (unit: number): boolean => unit >= code.zero && unit <= code.nine;

/** What names of anchors, tag handles and directives consist of. */
export const isNameUnit = (unit: number): boolean =>
  isDigit(unit) ||
  (unit >= 0x41 && unit <= 0x5a) ||
  (unit >= 0x61 && unit <= 0x7a) ||
  unit === 0x5f ||
  unit === code.minus;

/** `[`, `]`, `{`, `}` and `,`: they end plain text between brackets. */
export const isFlowIndicator = (unit: number): boolean =>
  unit === code.comma ||
  unit === code.openBracket ||
  unit === code.closeBracket ||
  unit === code.openBrace ||
  unit === code.closeBrace;
