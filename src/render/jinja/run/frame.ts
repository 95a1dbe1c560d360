import type { Value } from '../values/value.ts';
import { Deferred, type Names } from './deferred.ts';
import type { BlockBody, Program, Template } from './program.ts';
import type { Run } from './run.ts';

/** One template at work: what it was given and what it sets. */
export class Context {
  readonly template: Template;
  readonly program: Program;
  /** Variables and globals it was given. */
  readonly given: Names;
  readonly root: Frame;
  /** Top-level variables that an importing template gets. */
  readonly exported = new Set<string>();
  /** The template it extends, once that is known. */
  parent: Template | undefined;
  /** `self` in its text: its blocks. */
  self: Value | undefined;
  /** Bodies of blocks by name, the most derived first. */
  readonly blocks = new Map<string, BlockBody[]>();

  constructor(template: Template, program: Program, given: Names) {
    this.template = template;
    this.program = program;
    this.given = given;
    this.root = new Frame(this, undefined);
  }
}

/** The names of a scope on top of those around it: a template, the body of a loop, a macro … */
export class Frame {
  readonly context: Context;
  readonly run: Run;
  readonly #outer: Frame | undefined;
  readonly #names = new Map<string, Value>();

  constructor(context: Context, outer: Frame | undefined) {
    this.context = context;
    this.run = context.program.run;
    this.#outer = outer;
  }

  inner(): Frame {
    return new Frame(this.context, this);
  }

  get isRoot(): boolean {
    return this.#outer === undefined;
  }

  /** Sets a variable of this scope; at the top of a template it is also exported. */
  set(name: string, value: Value): void {
    this.#names.set(name, value);
    if (this.#outer === undefined && !name.startsWith('_')) this.context.exported.add(name);
  }

  get(name: string): Value | undefined {
    const own = this.#names.get(name);
    if (own !== undefined) return own;
    for (let frame = this.#outer; frame; frame = frame.#outer) {
      const value = frame.#names.get(name);
      if (value !== undefined) return value;
    }
    const given = this.context.given.get(name);
    return given instanceof Deferred ? given.value : given;
  }

  /** Every name that is visible here. */
  all(): Names {
    const chain: Frame[] = [this];
    for (let frame = this.#outer; frame; frame = frame.#outer) chain.push(frame);
    const names: Names = new Map(this.context.given);
    for (const frame of chain.reverse())
      for (const [name, value] of frame.#names) names.set(name, value);
    return names;
  }
}
