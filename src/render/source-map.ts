import { type TextPosition, type Trace, withText } from '../data/values/position.ts';
import type { SourceLocation } from '../protocol/error.ts';

/** Where a piece of rendered text begins in its template. */
export type TemplateOrigin = {
  readonly file: string;
  /** The template's whole text. */
  readonly text: string;
  readonly line: number;
  readonly column: number;
  /** Whether the piece is text of the template, not a value that a tag printed. */
  readonly isCopy: boolean;
};

/** The origin of the piece of a rendered text that holds an offset. */
export type Mapping = {
  readonly find: (offset: number) =>
    | {
        readonly origin: TemplateOrigin;
        /** The piece's first offset. */
        readonly start: number;
        /** Whether the same part of the template made other pieces too. */
        readonly isRepeated: boolean;
      }
    | undefined;
};

/**
 * Remembers which part of a template each piece of a rendered text came from. A template engine
 * adds a mark per piece, which costs little; only an error makes lines of them.
 */
export class SourceMap<Mark extends object> implements Mapping {
  readonly #pieces: readonly string[];
  readonly #marks: readonly (Mark | SourceMap<Mark>)[];
  readonly #originOf: (mark: Mark) => TemplateOrigin;
  #starts: readonly number[] | undefined;

  /**
   * @param pieces of the text, in order; more may be added until something is looked up
   * @param marks what stands for each piece's part of the template: for a text that is printed
   * whole, its own map
   */
  constructor(
    pieces: readonly string[],
    marks: readonly (Mark | SourceMap<Mark>)[],
    originOf: (mark: Mark) => TemplateOrigin,
  ) {
    this.#pieces = pieces;
    this.#marks = marks;
    this.#originOf = originOf;
  }

  get #offsets(): readonly number[] {
    if (this.#starts) return this.#starts;
    let end = 0;
    this.#starts = this.#pieces.map(piece => {
      end += piece.length;
      return end - piece.length;
    });
    return this.#starts;
  }

  find(offset: number): ReturnType<Mapping['find']> {
    const found = this.#leaf(offset, 0);
    return (
      found && {
        origin: this.#originOf(found.mark),
        start: found.start,
        isRepeated: this.#isSeenAgain(found.mark, new Set()),
      }
    );
  }

  #leaf(offset: number, base: number): { mark: Mark; start: number } | undefined {
    const offsets = this.#offsets;
    let low = 0;
    let high = offsets.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((offsets[middle] ?? 0) + base <= offset) low = middle;
      else high = middle - 1;
    }
    const mark = this.#marks[low];
    const start = base + (offsets[low] ?? 0);
    return mark instanceof SourceMap ? mark.#leaf(offset, start) : mark && { mark, start };
  }

  #isSeenAgain(mark: Mark, seen: Set<Mark>): boolean {
    return this.#marks.some(own => {
      if (own instanceof SourceMap) return own.#isSeenAgain(mark, seen);
      if (own !== mark) return false;
      const isSecond = seen.has(mark);
      seen.add(mark);
      return isSecond;
    });
  }
}

/** A position in a rendered text as a place of the template, whose text comes with it. */
export type Traced = { readonly place: SourceLocation; readonly text: string };

/**
 * How a text, or data read from it, leads back to the template. `undefined`: it is the template's
 * own text; `unknown`: an engine that reports no origins made it.
 */
export type Origins = RenderedText | 'unknown' | undefined;

/** What a template engine was given. */
type Input = {
  readonly file: string;
  readonly text: string;
  /** How that text came about, if another engine rendered it. */
  readonly origins: RenderedText | undefined;
};

/** A rendered text whose positions lead back to the template. */
export class RenderedText {
  readonly #text: string;
  readonly #map: Mapping;
  readonly #input: Input;
  #starts: readonly number[] | undefined;

  constructor(text: string, map: Mapping, input: Input) {
    this.#text = text;
    this.#map = map;
    this.#input = input;
  }

  /** The place alone, for data made of the text; a position without origin stays as it is. */
  readonly trace: Trace = position => {
    const found = this.find(position);
    return found ? withText(found.place, found.text) : { file: this.#input.file, ...position };
  };

  find({
    line,
    column = 1,
  }: {
    readonly line: number;
    readonly column?: number;
  }): Traced | undefined {
    this.#starts ??= lineStarts(this.#text);
    const lineStart = this.#starts[line - 1] ?? this.#text.length;
    const lineEnd = this.#starts[line] ?? this.#text.length;
    const offset = Math.min(lineStart + unitsOf(this.#text, lineStart, column - 1), lineEnd);
    const found = this.#map.find(offset);
    if (!found) return undefined;
    const { origin, start } = found;
    const before = this.#text.slice(start, offset);
    const { file, text } = origin;
    const at = origin.isCopy ? moved(origin, before) : origin;
    const isOneOfMany = found.isRepeated || (!origin.isCopy && /[\r\n]/.test(before));
    const own: SourceLocation = {
      file,
      line: at.line,
      column: at.column,
      ...(isOneOfMany ? { rendered: line } : {}),
    };
    const { origins } = this.#input;
    if (!origins || text !== this.#input.text) return { place: own, text };
    const first = origins.find(at);
    const isAnywhereRepeated = isOneOfMany || first?.place.rendered !== undefined;
    return (
      first && {
        ...first,
        place: { ...first.place, ...(isAnywhereRepeated ? { rendered: line } : {}) },
      }
    );
  }
}

const lineEnd = /\r\n|[\r\n\x85\u2028\u2029]/g;

const lineStarts = (text: string): number[] => {
  const starts = [0];
  for (const match of text.matchAll(lineEnd)) starts.push(match.index + match[0].length);
  return starts;
};

/** The position after a text that is copied from a position on. */
const moved = ({ line, column }: TextPosition, text: string): TextPosition => {
  const starts = lineStarts(text);
  const last = starts.at(-1) ?? 0;
  const width = Array.from(text.slice(last)).length;
  return starts.length === 1
    ? { line, column: column + width }
    : { line: line + starts.length - 1, column: width + 1 };
};

/** How many UTF-16 units so many characters take. */
const unitsOf = (text: string, start: number, characters: number): number => {
  let at = start;
  for (let count = 0; count < characters && at < text.length; count += 1)
    at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  return at - start;
};
