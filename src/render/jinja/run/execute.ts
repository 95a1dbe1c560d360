import type { TaintRange } from '../../../data/taint.ts';
import { SourceMap } from '../../source-map.ts';
import type { Eventual } from '../after.ts';
import { type TemplatePosition, templateOriginOf } from '../jinja-error.ts';
import type { JinjaExpression } from '../syntax/ast.ts';
import type { Value } from '../values/value.ts';
import type { Scope } from './frame.ts';
import type { Run } from './run.ts';

/** A compiled expression. */
export type Evaluate = (frame: Scope) => Eventual<Value>;

/** Compiles an expression of one template. */
export type Compile = (node: JinjaExpression) => Evaluate;

/** Compiled statements; their output goes to `out`. */
export type Execute = (frame: Scope, out: OutputBuffer) => Eventual<Signal | undefined>;

/** How a loop's body ended early. */
export type Signal = 'break' | 'continue';

/** The printed text, with a limit. */
export class OutputBuffer {
  /** Output is ignored from now on: the template extends another. */
  isMuted = false;
  readonly #parts: string[] = [];
  /** The origin of each part. */
  readonly #spots: (TemplatePosition | SourceMap<TemplatePosition>)[] = [];
  readonly #run: Run;
  readonly #guard: ((text: string) => string) | undefined;
  readonly #ranges: TaintRange[] = [];
  #length = 0;

  /** @param guard escapes printed values, but not the template's own text. */
  constructor(run: Run, guard?: (text: string) => string) {
    this.#run = run;
    this.#guard = guard;
  }

  text(text: string, spot: TemplatePosition | SourceMap<TemplatePosition>): void {
    if (this.isMuted) return;
    this.#run.spend(text.length);
    this.#parts.push(text);
    this.#spots.push(spot);
    this.#length += text.length;
  }

  /** @param tainted the parts of the text that the host chose */
  value(text: string, spot: TemplatePosition, tainted?: readonly TaintRange[]): void {
    if (tainted && !this.isMuted)
      for (const range of tainted)
        this.#ranges.push({
          ...range,
          start: range.start + this.#length,
          end: range.end + this.#length,
        });
    const { captured } = this.#run;
    const inner = captured.size > 0 ? captured.get(text) : undefined;
    this.text(this.#guard ? this.#guard(text) : text, inner ?? spot);
  }

  /** The parts of the whole text that the host chose. */
  get tainted(): readonly TaintRange[] {
    return this.#ranges;
  }

  /** Maps the output to its origins. */
  get map(): SourceMap<TemplatePosition> {
    return new SourceMap(this.#parts, this.#spots, templateOriginOf);
  }

  /** Returns the whole text, as the template's result or as a value. */
  get all(): string {
    return this.#parts.join('');
  }

  /** Returns the whole text as a value that keeps its taint and its origins where it is printed. */
  capture(): string {
    const text = this.all;
    if (this.#ranges.length > 0) this.#run.tracking?.captured(text, this.#ranges);
    if (text.includes('\n')) this.#run.captured.set(text, this.map);
    return text;
  }
}
