import { excerptOf } from '../data/excerpt.ts';
import type { Position } from '../data/position.ts';
import type { Data } from '../data/value.ts';
import { TsaltError } from '../protocol/error.ts';

export type LoadOptions = {
  /** The file's name in errors. */
  readonly file?: string | undefined;
  /** The number of the text's first line, where it is a part of a file. Default 1. */
  readonly firstLine?: number | undefined;
  /** Whether mappings are ordered dictionaries (`data/ordered.ts`), as in SLS. Default false. */
  readonly ordered?: boolean | undefined;
  /** Further tags, and what they make of the value they stand before; a scalar is a text to them. */
  readonly tags?: OwnTags | undefined;
};

export type OwnTags = ReadonlyMap<string, (value: Data) => Data>;

/** A text, and where its offsets are as lines and columns of the file. */
export class Source {
  /** What is parsed: the text as written, some lines of it indented further. */
  text: string;
  readonly file: string;
  readonly firstLine: number;
  readonly ordered: boolean;
  readonly tags: OwnTags | undefined;
  readonly #written: string;
  #starts: number[] | undefined;
  #line = 0;
  readonly #indented = new Map<number, number>();

  constructor(text: string, { file, firstLine, ordered, tags }: LoadOptions) {
    this.text = text;
    this.#written = text;
    this.file = file ?? '<unicode string>';
    this.firstLine = firstLine ?? 1;
    this.ordered = ordered ?? false;
    this.tags = tags;
  }

  /** As `position`, for those who ask later. */
  readonly locate = (offset: number): Position => this.position(offset);

  position(offset: number): Position {
    this.#starts ??= lineStarts(this.text);
    const starts = this.#starts;
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
    const column = offset - (starts[low] ?? 0) - (this.#indented.get(low) ?? 0) + 1;
    return { line: low + this.firstLine, column: Math.max(1, column) };
  }

  /** Puts spaces for the tabs of an offset's line that stand before it and outside of quotes. */
  untab(offset: number): boolean {
    const start = this.text.lastIndexOf('\n', offset - 1) + 1;
    const before = this.text.slice(start, offset);
    const spaced = withoutTabs(before);
    this.text = this.text.slice(0, start) + spaced + this.text.slice(offset);
    return spaced !== before;
  }

  /** Indents the line of an offset; positions stay those of the text as written. */
  indent(offset: number, spaces: number): void {
    const line = this.position(offset).line - this.firstLine;
    const start = this.#starts?.[line] ?? 0;
    this.text = this.text.slice(0, start) + ' '.repeat(spaces) + this.text.slice(start);
    this.#indented.set(line, (this.#indented.get(line) ?? 0) + spaces);
    this.#starts = undefined;
    this.#line = 0;
  }

  /** Puts a space at an offset; what follows on the line moves by that one column. */
  space(offset: number): void {
    this.text = `${this.text.slice(0, offset)} ${this.text.slice(offset)}`;
    this.#starts = undefined;
    this.#line = 0;
  }

  /** PyYAML's text of a fault: each sentence followed by the place it means. */
  saltText(...parts: readonly (readonly [text: string, where: Position | number])[]): string {
    return parts
      .map(([text, where]) => {
        const { line, column } = typeof where === 'number' ? this.position(where) : where;
        return `${text}\n  in "<unicode string>", line ${line}, column ${column}`;
      })
      .join('\n');
  }

  fault(
    code: string,
    message: string,
    where: Position | number,
    hint?: string,
    saltText?: string,
  ): TsaltError {
    const at = typeof where === 'number' ? this.position(where) : where;
    return new TsaltError(code, message, {
      kind: 'render',
      at: { file: this.file, ...at },
      hint,
      saltText,
      excerpt: excerptOf(this.#written, at.line, this.firstLine),
    });
  }
}

const lineStarts = (text: string): number[] => {
  const starts = [0];
  for (const match of text.matchAll(/\r\n|\r|\n/g)) starts.push(match.index + match[0].length);
  return starts;
};

const withoutTabs = (line: string): string => {
  let quote = '';
  let result = '';
  for (const char of line) {
    if (quote === char) quote = '';
    else if (quote === '' && /["']/.test(char) && /(?:^|[\s[{,:])$/.test(result)) quote = char;
    result += char === '\t' && quote === '' ? ' ' : char;
  }
  return result;
};
