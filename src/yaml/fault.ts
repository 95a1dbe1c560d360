import { excerptOf } from '../data/excerpt.ts';
import type { Position } from '../data/position.ts';
import { TsaltError } from '../protocol/error.ts';

export type LoadOptions = {
  /** The file's name in errors. */
  readonly file?: string | undefined;
  /** The number of the text's first line, where it is a part of a file. Default 1. */
  readonly firstLine?: number | undefined;
};

/** A text, and where its offsets are as lines and columns of the file. */
export class Source {
  readonly text: string;
  readonly file: string;
  readonly firstLine: number;
  #starts: number[] | undefined;

  constructor(text: string, { file, firstLine }: LoadOptions) {
    this.text = text;
    this.file = file ?? '<unicode string>';
    this.firstLine = firstLine ?? 1;
  }

  position(offset: number): Position {
    this.#starts ??= lineStarts(this.text);
    const starts = this.#starts;
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + this.firstLine, column: offset - (starts[low] ?? 0) + 1 };
  }

  fault(code: string, message: string, at: Position, hint?: string): TsaltError {
    return new TsaltError(code, message, {
      kind: 'render',
      at: { file: this.file, ...at },
      hint,
      excerpt: excerptOf(this.text, at.line, this.firstLine),
    });
  }
}

const lineStarts = (text: string): number[] => {
  const starts = [0];
  for (const match of text.matchAll(/\r\n|\r|\n/g)) starts.push(match.index + match[0].length);
  return starts;
};
