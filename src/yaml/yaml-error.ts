import { excerptOf } from '../data/excerpt.ts';
import type { Ranges } from '../data/taint.ts';
import type { TextPosition, Trace } from '../data/values/position.ts';
import type { Data } from '../data/values/value.ts';
import { type SourceLocation, TsaltError } from '../protocol/error.ts';
import type { YamlCache } from './yaml-cache.ts';

export type YamlLoadOptions = {
  /** The file's name in errors. */
  readonly file?: string | undefined;
  /** The number of the text's first line, if it is a part of a file. Default 1. */
  readonly firstLine?: number | undefined;
  /** Whether mappings are ordered dictionaries (`data/values/ordered.ts`), as in SLS. Default false. */
  readonly ordered?: boolean | undefined;
  /** Further tags with functions that convert their value; a scalar is passed as a string. */
  readonly tags?: CustomTags | undefined;
  /** Maps positions to the template from which the text was rendered; used only for hints. */
  readonly trace?: Trace | undefined;
  /** The host-supplied parts of the text. They must not change its structure. */
  readonly taint?: TaintOptions | undefined;
  /** Knows large texts of earlier runs. */
  readonly cache?: YamlCache | undefined;
};

/** The host-supplied parts of a text, and a callback about their values. */
export type TaintOptions = {
  readonly ranges: Ranges;
  /** The host, as named in messages. */
  readonly owner: string;
  /** Called for each scalar that contains tainted parts, with their positions in its value. */
  readonly onScalar?: ((value: string, ranges: Ranges) => void) | undefined;
};

export type CustomTags = ReadonlyMap<string, (value: Data) => Data>;

/** The lines of a text, which are counted at first use. */
class TextLines {
  readonly #text: string;
  readonly #firstLine: number;
  #starts: number[] | undefined;
  /** Where the last position was. */
  #line = 0;

  constructor(text: string, firstLine: number) {
    this.#text = text;
    this.#firstLine = firstLine;
  }

  readonly position = (offset: number): TextPosition => {
    this.#starts ??= lineStarts(this.#text);
    const starts = this.#starts;
    if (offset > this.#text.length) return { line: starts.length + this.#firstLine, column: 1 };
    const near = this.#line;
    const isNear = (starts[near] ?? 0) <= offset && offset < (starts[near + 2] ?? -1);
    let low = isNear ? near : 0;
    let high = isNear ? near + 1 : starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    this.#line = low;
    const column = characters(this.#text.slice(starts[low], offset)) + 1;
    return { line: low + this.#firstLine, column };
  };

  /** Returns the offset at which a line begins, or the end of the text. */
  startOf(line: number): number {
    this.#starts ??= lineStarts(this.#text);
    return this.#starts[line - this.#firstLine] ?? this.#text.length;
  }
}

/** A text that converts offsets to lines and columns of the file. */
export class YamlSource {
  readonly text: string;
  readonly file: string;
  readonly firstLine: number;
  readonly ordered: boolean;
  readonly tags: CustomTags | undefined;
  readonly taint: TaintOptions | undefined;
  readonly cache: YamlCache | undefined;
  readonly #trace: Trace | undefined;
  readonly #lines: TextLines;

  constructor(text: string, options: YamlLoadOptions) {
    const { file, firstLine, ordered, tags, taint, trace, cache } = options;
    this.text = text;
    this.file = file ?? '<unicode string>';
    this.firstLine = firstLine ?? 1;
    this.ordered = ordered ?? false;
    this.tags = tags;
    this.taint = taint;
    this.cache = cache;
    this.#trace = trace;
    this.#lines = new TextLines(text, this.firstLine);
  }

  /** As `position`, for what is kept with the data: it holds the text alone, not where it came from. */
  get locate(): (offset: number) => TextPosition {
    return this.#lines.position;
  }

  /** Returns a position. The offset after the end of the text is the line after its last. */
  position(offset: number): TextPosition {
    return this.#lines.position(offset);
  }

  /** Returns the offset of a position from `position`, approximately. */
  offset({ line, column }: TextPosition): number {
    return Math.min(this.#lines.startOf(line) + column - 1, this.text.length);
  }

  /**
   * Returns the location of an offset for the user: in the template, if the text was rendered from
   * one.
   */
  written(offset: number): SourceLocation {
    const position = this.position(offset);
    return this.#trace?.(position) ?? { file: this.file, ...position };
  }

  /** Returns `line 3`, with the column if requested, and with the file if it differs. */
  lineName(offset: number, withColumn = false): string {
    const { file, line, column, rendered } = this.written(offset);
    return [
      `line ${line ?? rendered}`,
      withColumn && column !== undefined ? `, column ${column}` : '',
      file === this.file ? '' : ` of ${file}`,
      rendered === undefined || line === undefined ? '' : ` (rendered line ${rendered})`,
    ].join('');
  }

  /**
   * Formats an error as PyYAML does: each sentence with its position, equal positions only once.
   */
  saltText(...parts: readonly (readonly [text: string, where: number])[]): string {
    return parts
      .map(([text, where], index) => {
        const { line, column } = this.position(where);
        return parts[index + 1]?.[1] === where
          ? text
          : `${text}\n  in "<unicode string>", line ${line}, column ${column}`;
      })
      .join('\n');
  }

  fault(
    code: string,
    message: string,
    where: number,
    hint?: string,
    saltText?: string,
  ): TsaltError {
    const at = this.position(Math.min(where, this.text.length));
    return new TsaltError(code, message, {
      kind: 'render',
      at: { file: this.file, ...at },
      hint,
      saltText,
      excerpt: excerptOf(this.text, at.line, this.firstLine),
    });
  }
}

const lineStarts = (text: string): number[] => {
  const starts = [0];
  for (const match of text.matchAll(/\r\n|[\r\n\x85\u2028\u2029]/g))
    starts.push(match.index + match[0].length);
  return starts;
};

const characters = (text: string): number =>
  text.length - (text.match(/[\ud800-\udbff]/g)?.length ?? 0);
