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

  /** @param guard applied to printed values, not to the template's own text. */
  constructor(run: Run, guard?: (text: string) => string) {
    this.#run = run;
    this.#guard = guard;
  }

  text(text: string): void {
    if (this.isMuted) return;
    this.#run.spend(text.length);
    this.#parts.push(text);
  }

  value(text: string): void {
    this.text(this.#guard ? this.#guard(text) : text);
  }

  get all(): string {
    return this.#parts.join('');
  }
}
