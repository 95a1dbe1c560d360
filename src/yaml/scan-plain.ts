import { code, isBlank, isBreak, isFlowIndicator, isSpaceOrEnd } from './characters.ts';
import type { Reader } from './reader.ts';
import { Folding } from './scan-folding.ts';
import { type Token, tokenOf } from './token.ts';

const context = 'while scanning a plain scalar';

export type PlainScalar = { readonly token: Token; readonly endsLine: boolean };

/**
 * Text without quotes. Between brackets `indent` is 0 and `flow` is true: there it may go on at
 * any column, and `,[]{}` end it.
 */
export const scanPlain = (reader: Reader, flow: boolean, indent: number): PlainScalar => {
  const start = reader.offset;
  skipWord(reader, flow, start);
  let end = reader.offset;
  let value = reader.text.slice(start, end);
  if (!isGap(reader.peek())) return { token: tokenOf('plain', start, end, value), endsLine: false };
  const between = new Folding();
  skipBetween(reader, between, indent, start);
  while (
    (flow || reader.column >= indent) &&
    !reader.isAtDocumentIndicator() &&
    reader.peek() !== code.hash
  ) {
    const from = reader.offset;
    skipWord(reader, flow, start);
    if (reader.offset > from) {
      end = reader.offset;
      value += between.take() + reader.text.slice(from, end);
    }
    if (!isGap(reader.peek())) break;
    skipBetween(reader, between, indent, start);
  }
  return { token: tokenOf('plain', start, end, value), endsLine: between.hasBreak };
};

const isGap = (unit: number): boolean => isBlank(unit) || isBreak(unit);

const skipWord = (reader: Reader, flow: boolean, start: number): void => {
  for (let unit = reader.peek(); !isSpaceOrEnd(unit); unit = reader.peek()) {
    if (unit === code.colon) {
      const next = reader.peek(1);
      if (flow && (isFlowIndicator(next) || next === code.question))
        throw reader.fault("found unexpected ':'", context, start);
      if (isSpaceOrEnd(next)) return;
    } else if (flow && isFlowIndicator(unit)) return;
    reader.offset += 1;
  }
};

const skipBetween = (reader: Reader, between: Folding, indent: number, start: number): void => {
  for (let unit = reader.peek(); ; unit = reader.peek()) {
    if (isBlank(unit)) {
      if (between.hasBreak && unit === code.tab && reader.column < indent)
        throw reader.fault('found a tab character that violates indentation', context, start);
      between.blank(unit);
      reader.offset += 1;
    } else if (isBreak(unit)) between.lineEnd(reader.takeBreak());
    else return;
  }
};
