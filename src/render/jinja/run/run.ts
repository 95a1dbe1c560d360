import { Turns } from '../../../protocol/turns.ts';
import type { SourceMap } from '../../source-map.ts';
import type { TaintSource } from '../../taint/taint-table.ts';
import { after, type Eventual } from '../after.ts';
import { JinjaError, raiseLimit, raiseRuntime, type TemplatePosition } from '../jinja-error.ts';
import { quoted } from '../values/text.ts';
import { Undefined } from '../values/undefined.ts';
import type { Args, Value } from '../values/value.ts';
import type { Limits } from './limits.ts';
import { Tracking } from './taint.ts';

/** A filter or test: takes a value and arguments. */
export type Operation = (value: Value, args: Args, run: Run) => Eventual<Value>;

export type Operations = ReadonlyMap<string, Operation>;

type Setup = {
  readonly limits: Limits;
  /** Whether using an undefined value is an error. */
  readonly isStrict: boolean;
  readonly filters: Operations;
  readonly tests: Operations;
  readonly call: (fun: string, args: Args) => Promise<Value>;
  /** The taint of the host's data at the start; absent if nothing is tracked. */
  readonly taint?: TaintSource | undefined;
  /** Whether a function belongs to the control node. */
  readonly livesHere?: ((fun: string) => Promise<boolean>) | undefined;
};

/** One active rendering: its position, its remaining budget, its filters. */
export class Run {
  /** The position that is being evaluated; errors are reported there. */
  spot: TemplatePosition | undefined;
  /** Positions of the calls of the current macro, include or import, outermost first. */
  readonly callers: TemplatePosition[] = [];
  /**
   * The current blocks, outermost first: the position of each entry, and the depth of calls then.
   */
  readonly blocks: { readonly spot: TemplatePosition | undefined; readonly depth: number }[] = [];
  readonly isStrict: boolean;
  /** Multi-line texts that were printed into values, with their origins. */
  readonly captured = new Map<string, SourceMap<TemplatePosition>>();
  /** Calls an execution function for the host. */
  readonly call: (fun: string, args: Args) => Eventual<Value>;
  /** Tracks the host-supplied data. */
  readonly tracking: Tracking | undefined;
  /** Whether a function belongs to the control node; true if unknown. */
  readonly livesHere: (fun: string) => Eventual<boolean>;
  readonly #limits: Limits;
  readonly #filters: Operations;
  readonly #tests: Operations;
  #steps = 0;
  #made = 0;
  #deadline: number;
  /** Begins with the first steps: most templates are short. */
  #turns: Turns | undefined;
  #isLong = false;

  constructor({ limits, isStrict, filters, tests, call, taint, livesHere }: Setup) {
    this.#limits = limits;
    this.isStrict = isStrict;
    this.#filters = filters;
    this.#tests = tests;
    this.livesHere = livesHere ? fun => this.waitFor(livesHere(fun)) : () => true;
    this.tracking = taint && new Tracking(taint);
    const { tracking } = this;
    this.call = (fun, args) =>
      after(this.waitFor(call(fun, args)), result => {
        tracking?.called(fun, args, result);
        return result;
      });
    this.#deadline = performance.now() + limits.milliseconds;
  }

  /** Counts steps of a loop, a macro or a long filter. */
  step(weight = 1): void {
    const before = this.#steps;
    this.#steps += weight;
    if (this.#steps > this.#limits.steps)
      raiseLimit(`The template took more than ${this.#limits.steps} steps`);
    if (before >> 5 === this.#steps >> 5) return;
    const now = performance.now();
    if (now > this.#deadline)
      raiseLimit(`The template ran longer than ${this.#limits.milliseconds} ms`);
    this.#turns ??= new Turns();
    this.#isLong = this.#turns.areOver;
  }

  /** Yields to other work if due; loops call this after each iteration. */
  breathe(): Eventual<void> {
    if (!this.#isLong || !this.#turns) return undefined;
    this.#isLong = false;
    return this.waitFor(this.#turns.pause());
  }

  /** Accounts for text that is kept: printed or concatenated. */
  spend(length: number): void {
    this.#made += length;
    if (this.#made > this.#limits.characters)
      raiseLimit(`The template made more than ${this.#limits.characters} characters`);
  }

  /** Waits for a host; the waiting time does not count as work. */
  async waitFor<T>(work: Promise<T>): Promise<T> {
    const start = performance.now();
    try {
      return await work;
    } finally {
      this.#deadline += performance.now() - start;
    }
  }

  /** Enters a macro, include or import; its errors include this position. */
  enter(): void {
    if (this.callers.length >= this.#limits.depth)
      throw new JinjaError('error', 'maximum recursion depth exceeded');
    if (this.spot) this.callers.push(this.spot);
  }

  leave(depth: number, spot: TemplatePosition | undefined): void {
    this.callers.length = depth;
    while ((this.blocks.at(-1)?.depth ?? 0) > depth) this.blocks.pop();
    this.spot = spot;
  }

  enterBlock(): void {
    this.blocks.push({ spot: this.spot, depth: this.callers.length });
  }

  leaveBlock(): void {
    this.blocks.pop();
  }

  /**
   * The position in Salt's messages: for code directly in a block, and not in a macro called there,
   * that is the line where the block was entered.
   */
  get saltSpot(): TemplatePosition | undefined {
    let { spot } = this;
    for (const block of this.blocks.toReversed()) {
      if (block.depth < this.callers.length || block.spot?.source !== spot?.source) break;
      spot = block.spot;
    }
    return spot;
  }

  undefined(reason: string): Undefined {
    return new Undefined(reason, this.isStrict);
  }

  filter(name: string): Operation {
    const found = this.#filters.get(name) ?? raiseRuntime(`No filter named ${quoted(name)}.`);
    const { tracking } = this;
    return tracking ? (value, args) => this.#tracked(tracking, name, found, value, args) : found;
  }

  #tracked(
    tracking: Tracking,
    name: string,
    filter: Operation,
    value: Value,
    args: Args,
  ): Eventual<Value> {
    const before = tracking.before(value);
    return after(filter(value, args, this), result => {
      tracking.made(name, before, args, result);
      return result;
    });
  }

  test(name: string): Operation {
    return this.#tests.get(name) ?? raiseRuntime(`No test named ${quoted(name)}.`);
  }

  hasFilter(name: string): boolean {
    return this.#filters.has(name);
  }

  hasTest(name: string): boolean {
    return this.#tests.has(name);
  }
}
