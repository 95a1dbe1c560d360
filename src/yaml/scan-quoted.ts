import { code, isBlank, isBreak, isBreakOrEnd, isEnd, isSpaceOrEnd } from './characters.ts';
import type { Reader } from './reader.ts';
import { Folding } from './scan-folding.ts';
import { type Token, tokenOf } from './token.ts';

const scanning = 'while scanning a quoted scalar';
const parsing = 'while parsing a quoted scalar';

/** Text between `'` or `"`. */
export const scanQuoted = (reader: Reader, quote: number): Token => {
  const start = reader.offset;
  let value = '';
  const between = new Folding();
  reader.skip();
  for (;;) {
    if (reader.isAtDocumentIndicator())
      throw reader.fault('found unexpected document indicator', scanning, start);
    if (isEnd(reader.peek())) throw reader.fault('found unexpected end of stream', scanning, start);
    value += quote === code.quote ? doubleQuoted(reader, between, start) : singleQuoted(reader);
    if (reader.peek() === quote) break;
    for (let unit = reader.peek(); ; unit = reader.peek()) {
      if (isBlank(unit)) {
        between.blank(unit);
        reader.skip();
      } else if (isBreak(unit)) between.lineEnd(reader.takeBreak());
      else break;
    }
    value += between.take();
  }
  reader.skip();
  return tokenOf('quoted', start, reader.offset, value);
};

const singleQuoted = (reader: Reader): string => {
  let value = '';
  let from = reader.offset;
  for (let unit = reader.peek(); !isSpaceOrEnd(unit); unit = reader.peek()) {
    if (unit === code.apostrophe) {
      if (reader.peek(1) !== code.apostrophe) break;
      value += reader.text.slice(from, reader.offset + 1);
      from = reader.offset + 2;
      reader.skip();
    }
    reader.skip();
  }
  return value + reader.text.slice(from, reader.offset);
};

const doubleQuoted = (reader: Reader, between: Folding, start: number): string => {
  let value = '';
  let from = reader.offset;
  for (let unit = reader.peek(); !isSpaceOrEnd(unit); unit = reader.peek()) {
    if (unit === code.quote) break;
    if (unit !== code.backslash) {
      reader.skip();
      continue;
    }
    value += reader.text.slice(from, reader.offset);
    if (!isBreakOrEnd(reader.peek(1))) value += escaped(reader, start);
    else if (isEnd(reader.peek(1)))
      throw reader.fault('found unknown escape character', parsing, start);
    else {
      reader.skip();
      reader.takeBreak();
      between.escapedLineEnd();
      return value;
    }
    from = reader.offset;
  }
  return value + reader.text.slice(from, reader.offset);
};

const simpleEscapes: ReadonlyMap<string, string> = new Map([
  ['0', '\0'],
  ['a', '\x07'],
  ['b', '\b'],
  ['t', '\t'],
  ['\t', '\t'],
  ['n', '\n'],
  ['v', '\v'],
  ['f', '\f'],
  ['r', '\r'],
  ['e', '\x1b'],
  [' ', ' '],
  ['"', '"'],
  ['/', '/'],
  ['\\', '\\'],
  ['N', '\x85'],
  ['_', '\xa0'],
  ['L', '\u2028'],
  ['P', '\u2029'],
]);

const escapeLengths: ReadonlyMap<string, number> = new Map([
  ['x', 2],
  ['u', 4],
  ['U', 8],
]);

const escaped = (reader: Reader, start: number): string => {
  const letter = reader.text.charAt(reader.offset + 1);
  const simple = simpleEscapes.get(letter);
  const length = escapeLengths.get(letter);
  if (simple === undefined && length === undefined)
    throw reader.fault('found unknown escape character', parsing, start);
  reader.skip(2);
  if (length === undefined) return simple ?? '';
  const digits = reader.text.slice(reader.offset, reader.offset + length);
  if (digits.length < length || /[^0-9a-f]/i.test(digits))
    throw reader.fault('did not find expected hexdecimal number', parsing, start);
  const value = Number.parseInt(digits, 16);
  if ((value >= 0xd800 && value <= 0xdfff) || value > 0x10ffff)
    throw reader.fault('found invalid Unicode character escape code', parsing, start);
  reader.skip(length);
  return String.fromCodePoint(value);
};
