import { EVENT_ID, getScalarValue, SCALAR_STYLE } from 'js-yaml';
import { TsaltError } from '../protocol/error.ts';
import { parse } from './parse.ts';
import { YamlSource } from './yaml-error.ts';

/** A scalar of a text: its value, and the text between its quotes. */
export type WrittenScalar = {
  readonly value: string;
  readonly from: number;
  readonly to: number;
};

/**
 * Returns the scalars of a text in YAML's flow or block style, without those below `|` and `>`.
 * `undefined` for text that cannot be parsed.
 */
export const scalarTokens = (text: string): WrittenScalar[] | undefined => {
  const found: WrittenScalar[] = [];
  try {
    const { text: read, events, sourceOffset } = parse(new YamlSource(text, {}));
    for (const event of events) {
      if (event.type !== EVENT_ID.SCALAR || event.valueStart < 0) continue;
      if (event.style > SCALAR_STYLE.DOUBLE_QUOTED) continue;
      found.push({
        value: getScalarValue(read, event),
        from: sourceOffset(event.valueStart),
        to: sourceOffset(event.valueEnd),
      });
    }
    return found;
  } catch (error) {
    if (error instanceof TsaltError) return undefined;
    throw error;
  }
};
