/**
 * A piece of a text that was elsewhere in another one: where it begins, and where it began there; all
 * 0-based.
 */
export type Moved = readonly [line: number, column: number, fromLine: number, fromColumn: number];

/** A text made of pieces of another one, and where these were. */
export class MovedText {
  readonly #from: string;
  readonly #starts: readonly number[];
  readonly #moved: Moved[] = [];
  #text = '';
  #line = 0;
  #lineStart = 0;

  constructor(from: string) {
    this.#from = from;
    this.#starts = lineStarts(from);
  }

  get text(): string {
    return this.#text;
  }

  get size(): number {
    return this.#text.length;
  }

  /** The line in which the text ends now, 0-based. */
  get line(): number {
    return this.#line;
  }

  get moved(): readonly Moved[] {
    return this.#moved;
  }

  /** Adds a text that was nowhere. */
  add(text: string): void {
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', end + 1)) {
      this.#line += 1;
      this.#lineStart = this.#text.length + end + 1;
    }
    this.#text += text;
  }

  /** Adds a piece of the other text. */
  copy(start: number, end: number): void {
    if (start === end) return;
    const [line, column] = placeIn(this.#starts, start);
    this.#moved.push([this.#line, this.#text.length - this.#lineStart, line, column]);
    this.add(this.#from.slice(start, end));
  }
}

/** Returns the offsets at which the lines of a text begin. */
export const lineStarts = (text: string): number[] => {
  const starts = [0];
  for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', end + 1))
    starts.push(end + 1);
  return starts;
};

/** Returns the line and the column of an offset, 0-based. */
export const placeIn = (starts: readonly number[], offset: number): [number, number] => {
  let [low, high] = [0, starts.length];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle;
  }
  return [low, offset - (starts[low] ?? 0)];
};

/** Returns where a position was in the other text. */
export const placeBefore = (
  moved: readonly Moved[],
  line: number,
  column: number,
): [number, number] => {
  const piece = moved.findLast(([row, from]) => row < line || (row === line && from <= column));
  if (!piece) return [line, column];
  const [row, from, fromRow, fromColumn] = piece;
  return row === line ? [fromRow, fromColumn + column - from] : [fromRow + line - row, column];
};
