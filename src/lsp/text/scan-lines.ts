/** Part of one line; line and columns count from 0, in UTF-16 units as editors count. */
export type TextSpan = { readonly line: number; readonly from: number; readonly to: number };

/** A key above a line, by indentation. */
export type ScannedEntry = {
  readonly indent: number;
  readonly key: string;
  readonly isItem: boolean;
};

/** A line of YAML that was read without its neighbours. */
export type ScannedLine = {
  readonly line: number;
  /** The keys that the line is below, outermost first. */
  readonly path: readonly string[];
  /** Whether it begins with `- `. */
  readonly isItem: boolean;
  readonly key?: string;
  readonly keySpan?: TextSpan;
  /** The text after the key, or the whole of a line without a key; without its quotes. */
  readonly value: string;
  readonly valueSpan: TextSpan;
};

/**
 * Reads the lines of an SLS that is being typed: neither its YAML nor its template has to be
 * complete. Lines of template statements, comments and block scalars are skipped.
 */
export const scanLines = (lines: readonly string[]): ScannedLine[] => {
  const scanner = new LineScanner();
  return lines.flatMap((text, line) => scanner.read(text, line) ?? []);
};

/** The keys that a line with so much indentation would be below. */
export const pathAt = (
  lines: readonly string[],
  line: number,
  indent: number,
  isItem: boolean,
): readonly string[] => {
  const scanner = new LineScanner();
  for (let at = 0; at < line; at++) scanner.read(lines[at] ?? '', at);
  return scanner.pathFor(indent, isItem);
};

class LineScanner {
  #entries: ScannedEntry[] = [];
  /** The end of the template statement or comment that an earlier line began. */
  #until: string | undefined;
  /** The indentation of the key whose block scalar these lines belong to. */
  #scalar: number | undefined;

  read(text: string, line: number): ScannedLine | undefined {
    if (this.#isTemplate(text)) return undefined;
    const body = text.trimStart();
    if (body === '' || body.startsWith('#')) return undefined;
    const indent = text.length - body.length;
    if (this.#scalar !== undefined) {
      if (indent > this.#scalar) return undefined;
      this.#scalar = undefined;
    }
    if (/^(---|\.\.\.)/.test(text)) return undefined;
    return this.#line(text, line, indent);
  }

  pathFor(indent: number, isItem: boolean): readonly string[] {
    this.#leave(indent, isItem);
    return this.#path();
  }

  #line(text: string, line: number, indent: number): ScannedLine {
    let start = indent;
    const isItem = /^-(\s|$)/.test(text.slice(indent));
    this.#leave(indent, isItem);
    for (let dash = /^-(\s+|$)/.exec(text.slice(start)); dash; ) {
      this.#entries.push({ indent: start, key: '', isItem: true });
      start += dash[0].length;
      dash = /^-(\s+|$)/.exec(text.slice(start));
    }
    const path = this.#path();
    const found = keyIn(text, start);
    const rest = found?.end ?? start;
    const { value, valueSpan } = valueIn(text, line, rest);
    if (!found) return { line, path, isItem, value, valueSpan };
    this.#entries.push({ indent: start, key: found.key, isItem: false });
    if (/^[|>][-+\d]*\s*(#.*)?$/.test(value)) this.#scalar = indent;
    const keySpan = { line, from: found.from, to: found.to };
    return { line, path, isItem, key: found.key, keySpan, value, valueSpan };
  }

  #leave(indent: number, isItem: boolean): void {
    const isInside = (entry: ScannedEntry): boolean =>
      isItem
        ? entry.indent < indent || (entry.indent === indent && !entry.isItem)
        : entry.indent < indent;
    while (this.#entries.length > 0 && !isInside(this.#entries.at(-1) as ScannedEntry))
      this.#entries.pop();
  }

  #path(): string[] {
    return this.#entries.filter(({ isItem }) => !isItem).map(({ key }) => key);
  }

  /** Whether the line is a template's statement or comment, or the rest of one. */
  #isTemplate(text: string): boolean {
    if (this.#until !== undefined) {
      if (text.includes(this.#until)) this.#until = undefined;
      return true;
    }
    const opened = /^\s*(\{%|\{#)/.exec(text);
    if (!opened) return false;
    const end = opened[1] === '{%' ? '%}' : '#}';
    const closed = text.indexOf(end);
    if (closed < 0) {
      this.#until = end;
      return true;
    }
    // `{% if x %}pkg: a{% endif %}` is left out as well: its column is not the key's.
    return true;
  }
}

type KeyPart = {
  readonly key: string;
  readonly from: number;
  readonly to: number;
  readonly end: number;
};

const keyIn = (text: string, start: number): KeyPart | undefined => {
  const rest = text.slice(start);
  const quoted = /^(['"])((?:(?!\1).)*)\1\s*:(?=\s|$)/.exec(rest);
  if (quoted) {
    const key = quoted[2] ?? '';
    const from = start + 1;
    return { key, from, to: from + key.length, end: start + quoted[0].length };
  }
  const plain =
    /^((?:\{\{.*?\}\}|[^\s'"#[\]{}&*!|>%@`,:]|(?<=\S)[^\s#:]|[ \t]+(?=\S)|:(?=\S))+?)\s*:(?=\s|$)/.exec(
      rest,
    );
  if (!plain) return undefined;
  const key = (plain[1] ?? '').trimEnd();
  return { key, from: start, to: start + key.length, end: start + plain[0].length };
};

const valueIn = (
  text: string,
  line: number,
  start: number,
): Pick<ScannedLine, 'value' | 'valueSpan'> => {
  const rest = text.slice(start);
  const body = rest.trimStart();
  const from = start + rest.length - body.length;
  const quoted = /^(['"])((?:(?!\1).)*)\1/.exec(body);
  if (quoted) {
    const value = quoted[2] ?? '';
    return { value, valueSpan: { line, from: from + 1, to: from + 1 + value.length } };
  }
  const value = body.replace(/\s+#.*$/, '').trimEnd();
  return { value, valueSpan: { line, from, to: from + value.length } };
};
