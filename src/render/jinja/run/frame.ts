import type { Value } from '../values/value.ts';
import { Deferred, type Names } from './deferred.ts';
import type { BlockBody, JinjaProgram, JinjaTemplate } from './program.ts';
import type { Run } from './run.ts';

/** One active template: its input and its variables. */
export class TemplateContext {
  readonly template: JinjaTemplate;
  readonly program: JinjaProgram;
  /** The variables and globals that were passed to it. */
  readonly given: Names;
  readonly root: Scope;
  /** Top-level variables that an importing template receives. */
  readonly exported = new Set<string>();
  /** The template that it extends, once known. */
  parent: JinjaTemplate | undefined;
  /** `self` in its text: its blocks. */
  self: Value | undefined;
  /** Bodies of blocks by name, the most derived first. */
  readonly blocks = new Map<string, BlockBody[]>();

  constructor(template: JinjaTemplate, program: JinjaProgram, given: Names) {
    this.template = template;
    this.program = program;
    this.given = given;
    this.root = new Scope(this, undefined);
  }
}

/** The names of a scope, on top of the enclosing ones: a template, the body of a loop, a macro … */
export class Scope {
  readonly context: TemplateContext;
  readonly run: Run;
  readonly #outer: Scope | undefined;
  readonly #names = new Map<string, Value>();

  constructor(context: TemplateContext, outer: Scope | undefined) {
    this.context = context;
    this.run = context.program.run;
    this.#outer = outer;
  }

  inner(): Scope {
    return new Scope(this.context, this);
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
    const chain: Scope[] = [this];
    for (let frame = this.#outer; frame; frame = frame.#outer) chain.push(frame);
    const names: Names = new Map(this.context.given);
    for (const frame of chain.reverse())
      for (const [name, value] of frame.#names) names.set(name, value);
    return names;
  }
}
