import { code, isBlank, isBreak, isBreakOrEnd, isDigit, isEnd } from './characters.ts';
import type { Reader } from './reader.ts';
import { type Token, tokenOf } from './token.ts';

const context = 'while scanning a block scalar';

/** Text below `|` or `>`, within a collection whose column is `parentIndent` (-1: none). */
export const scanBlockScalar = (reader: Reader, literal: boolean, parentIndent: number): Token => {
  const start = reader.offset;
  reader.skip();
  const { chomping, increment } = scanHeader(reader, start);
  reader.skipBlanks();
  reader.skipComment();
  if (!isBreakOrEnd(reader.peek()))
    throw reader.fault('did not find expected comment or line break', context, start);
  reader.takeBreak();
  const wanted = increment > 0 ? Math.max(parentIndent, 0) + increment : 0;
  const lead = skipIndentation(reader, wanted, parentIndent, start);
  const { indent } = lead;
  let { breaks } = lead;
  let value = '';
  let lineEnd = '';
  let wasBlank = false;
  while (reader.column === indent && !isEnd(reader.peek())) {
    const startsBlank = isBlank(reader.peek());
    const folds = !literal && lineEnd === '\n' && !wasBlank && !startsBlank;
    value += folds ? breaks || ' ' : lineEnd + breaks;
    wasBlank = startsBlank;
    const from = reader.offset;
    reader.skipToLineEnd();
    value += reader.text.slice(from, reader.offset);
    lineEnd = reader.takeBreak();
    ({ breaks } = skipIndentation(reader, indent, parentIndent, start));
  }
  if (chomping !== 'strip') value += lineEnd;
  if (chomping === 'keep') value += breaks;
  return tokenOf('block-scalar', start, reader.offset, value);
};

type Header = { readonly chomping: 'clip' | 'strip' | 'keep'; readonly increment: number };

/** `+` or `-` and a digit, in either order. */
const scanHeader = (reader: Reader, start: number): Header => {
  const before = scanIncrement(reader, start);
  const sign = reader.peek();
  const chomping = sign === code.plus ? 'keep' : sign === code.minus ? 'strip' : 'clip';
  if (chomping === 'clip') return { chomping, increment: before };
  reader.skip();
  return { chomping, increment: before || scanIncrement(reader, start) };
};

const scanIncrement = (reader: Reader, start: number): number => {
  const unit = reader.peek();
  if (!isDigit(unit)) return 0;
  if (unit === code.zero)
    throw reader.fault('found an indentation indicator equal to 0', context, start);
  reader.skip();
  return unit - code.zero;
};

/** Takes empty lines and the indentation of the next; where `wanted` is 0, that decides. */
const skipIndentation = (
  reader: Reader,
  wanted: number,
  parentIndent: number,
  start: number,
): { readonly breaks: string; readonly indent: number } => {
  let breaks = '';
  let longest = 0;
  for (;;) {
    while (reader.peek() === code.space && (wanted === 0 || reader.column < wanted)) reader.skip();
    longest = Math.max(longest, reader.column);
    if (reader.peek() === code.tab && (wanted === 0 || reader.column < wanted))
      throw reader.fault(
        'found a tab character where an indentation space is expected',
        context,
        start,
      );
    if (!isBreak(reader.peek())) break;
    breaks += reader.takeBreak();
  }
  return { breaks, indent: wanted || Math.max(longest, parentIndent + 1, 1) };
};
