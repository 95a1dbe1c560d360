import { type TextPosition, type Trace, withSourceText } from '../data/values/position.ts';
import type { SourceLocation } from '../protocol/error.ts';

/** The beginning of a piece of rendered text in its template. */
export type TemplateOrigin = {
  readonly file: string;
  /** The template's whole text. */
  readonly text: string;
  readonly line: number;
  readonly column: number;
  /** Whether the piece is text of the template, not a value that a tag printed. */
  readonly isCopy: boolean;
};

/** Finds the origin of the piece that contains an offset of a rendered text. */
export type Mapping = {
  readonly find: (offset: number) =>
    | {
        readonly origin: TemplateOrigin;
        /** The piece's first offset. */
        readonly start: number;
        /** Whether the same part of the template made other pieces as well. */
        readonly isRepeated: boolean;
      }
    | undefined;
};

/**
 * Records the part of a template that each piece of a rendered text came from. A template engine
 * adds one mark per piece, which is cheap; lines are computed only for an error.
 */
export class SourceMap<Mark extends object> implements Mapping {
  readonly #pieces: readonly string[];
  readonly #marks: readonly (Mark | SourceMap<Mark>)[];
  readonly #originOf: (mark: Mark) => TemplateOrigin;
  #starts: readonly number[] | undefined;

  /**
   * @param pieces of the text, in order; more may be added until the first lookup
   * @param marks the part of the template for each piece: for a text that is printed whole, its own
   * map
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

/** A position in a rendered text as a location in the template, with the template's text. */
export type Traced = { readonly place: SourceLocation; readonly text: string };

/**
 * Maps a text, or data read from it, to the template. `undefined`: it is the template's own text;
 * `unknown`: an engine without support for origins made it.
 */
export type Origins = RenderedText | 'unknown' | undefined;

/** The input of a template engine. */
type Input = {
  readonly file: string;
  readonly text: string;
  /** The origins of that text, if another engine rendered it. */
  readonly origins: RenderedText | undefined;
};

/** A rendered text whose positions can be mapped to the template. */
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

  /**
   * Maps a position of data read from the text; a position without origin is returned unchanged.
   */
  readonly trace: Trace = position => {
    const found = this.find(position);
    return found
      ? withSourceText(found.place, found.text)
      : { file: this.#input.file, ...position };
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

/** Returns the position after a text that begins at another position. */
const moved = ({ line, column }: TextPosition, text: string): TextPosition => {
  const starts = lineStarts(text);
  const last = starts.at(-1) ?? 0;
  const width = Array.from(text.slice(last)).length;
  return starts.length === 1
    ? { line, column: column + width }
    : { line: line + starts.length - 1, column: width + 1 };
};

/** Returns how many UTF-16 units a number of characters takes. */
const unitsOf = (text: string, start: number, characters: number): number => {
  let at = start;
  for (let count = 0; count < characters && at < text.length; count += 1)
    at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  return at - start;
};
