import { TsaltError } from '../protocol/error.ts';
import { Source } from './fault.ts';
import { Scanner } from './scanner.ts';

/** A scalar as it stands in a text: its value, and what is between its quotes. */
export type WrittenScalar = {
  readonly value: string;
  readonly from: number;
  readonly to: number;
};

/**
 * The scalars of a text in YAML's flow or block style, without those below `|` and `>`.
 * `undefined` for what cannot be read.
 */
export const scalarTokens = (text: string): WrittenScalar[] | undefined => {
  const scanner = new Scanner(new Source(text, {}));
  const found: WrittenScalar[] = [];
  try {
    for (;;) {
      const { kind, value, start, end } = scanner.peek();
      if (kind === 'stream-end') return found;
      if (kind === 'plain') found.push({ value, from: start, to: end });
      if (kind === 'quoted') found.push({ value, from: start + 1, to: end - 1 });
      scanner.skip();
    }
  } catch (error) {
    if (error instanceof TsaltError) return undefined;
    throw error;
  }
};
