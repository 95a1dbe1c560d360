import type { TaintRange } from '../../../data/taint.ts';
import type { Eventual } from '../after.ts';
import type { Expression } from '../syntax/ast.ts';
import type { Value } from '../values/value.ts';
import type { Frame } from './frame.ts';
import type { Run } from './run.ts';

/** An expression, ready to run. */
export type Evaluate = (frame: Frame) => Eventual<Value>;

/** Makes an expression of one template ready to run. */
export type Compile = (node: Expression) => Evaluate;

/** Statements, ready to run; what they print goes to `out`. */
export type Execute = (frame: Frame, out: Output) => Eventual<Signal | undefined>;

/** How a loop's body ended early. */
export type Signal = 'break' | 'continue';

/** What is printed, bounded. */
export class Output {
  /** Nothing printed counts any more: the template extends another. */
  isMuted = false;
  readonly #parts: string[] = [];
  readonly #run: Run;
  readonly #guard: ((text: string) => string) | undefined;
  readonly #ranges: TaintRange[] = [];
  #length = 0;

  /** @param guard applied to printed values, not to the template's own text. */
  constructor(run: Run, guard?: (text: string) => string) {
    this.#run = run;
    this.#guard = guard;
  }

  text(text: string): void {
    if (this.isMuted) return;
    this.#run.spend(text.length);
    this.#parts.push(text);
    this.#length += text.length;
  }

  /** @param tainted the parts of the text that the host chose */
  value(text: string, tainted?: readonly TaintRange[]): void {
    if (tainted && !this.isMuted)
      for (const range of tainted)
        this.#ranges.push({
          ...range,
          start: range.start + this.#length,
          end: range.end + this.#length,
        });
    this.text(this.#guard ? this.#guard(text) : text);
  }

  /** The parts of the whole text that the host chose. */
  get tainted(): readonly TaintRange[] {
    return this.#ranges;
  }

  /** The whole text; what it becomes is tainted where it is. */
  get all(): string {
    const text = this.#parts.join('');
    if (this.#ranges.length > 0) this.#run.tracking?.captured(text, this.#ranges);
    return text;
  }
}
