import type { Template } from 'liquidjs';
import { rangesOf, type TaintRange } from '../../data/taint.ts';
import type { SourceMap } from '../source-map.ts';
import { Pieces } from '../taint/align.ts';
import type { TaintSource } from '../taint/taint-table.ts';

/** The part of a template's text that prints. Its first `trimLeft` characters are removed. */
type Written = {
  readonly input: string;
  readonly begin: number;
  readonly file?: string;
  readonly trimLeft?: number | boolean;
};

/** The origins of the texts of one rendering: of its result and of variables. */
export type TextMaps = {
  readonly mapOf: (
    pieces: readonly string[],
    templates: readonly (Template | SourceMap<Template>)[],
  ) => SourceMap<Template>;
  readonly known: Map<string, SourceMap<Template>>;
};

/** A printed value before it is added to the text. */
export class Printed {
  readonly text: string;
  readonly ranges: readonly TaintRange[];

  constructor(text: string, ranges: readonly TaintRange[]) {
    this.text = text;
    this.ranges = ranges;
  }
}

/** Collects the output of templates with its origins. */
export class MappedEmitter {
  /** The node that is printing. */
  at: Template | undefined;
  /** The text so far. Liquid reads it after each round of a loop. */
  buffer = '';
  readonly #maps: TextMaps;
  readonly #pieces: string[] = [];
  readonly #templates: (Template | SourceMap<Template>)[] = [];

  constructor(maps: TextMaps) {
    this.#maps = maps;
  }

  write(html: unknown): void {
    this.add(html === undefined || html === null ? '' : String(html));
  }

  /** Returns the whole text and records its origins. */
  finish(): string {
    this.#maps.known.set(this.buffer, this.#maps.mapOf(this.#pieces, this.#templates));
    return this.buffer;
  }

  protected add(text: string): void {
    const { known } = this.#maps;
    const inner = known.size > 0 ? known.get(text) : undefined;
    if (this.at) {
      this.#pieces.push(text);
      this.#templates.push(inner ?? this.at);
    }
    this.buffer += text;
  }
}

/** Also collects the tainted parts. */
export class TrackingEmitter extends MappedEmitter {
  readonly #table: TaintSource;
  readonly #pieces = new Pieces();

  constructor(maps: TextMaps, table: TaintSource) {
    super(maps);
    this.#table = table;
  }

  override write(html: unknown): void {
    if (html instanceof Printed) this.#add(html.text, html.ranges);
    else {
      const text = html === undefined || html === null ? '' : String(html);
      this.#add(text, text === '' ? undefined : this.#table.of(text));
    }
  }

  #add(text: string, ranges: readonly TaintRange[] | undefined): void {
    this.#pieces.add(text, ranges);
    this.add(text);
  }

  /** Returns the whole text, and taints the same parts in any value made from it. */
  override finish(): string {
    const ranges = rangesOf(this.#pieces.ranges);
    if (ranges) this.#table.learn(this.buffer, ranges);
    return super.finish();
  }
}

/** Returns the text of a template's node: that of `{% raw %}` is inside the tag. */
export const writtenBy = (template: Template): Written => {
  const { tokens } = template as { readonly tokens?: readonly Written[] };
  return tokens?.[0] ?? (template.token as Written);
};
