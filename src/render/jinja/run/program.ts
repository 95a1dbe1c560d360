import type { TemplateSource } from '../jinja-error.ts';
import type { Value } from '../values/value.ts';
import { Thing } from '../values/value.ts';
import type { Names } from './deferred.ts';
import type { Execute } from './execute.ts';
import type { Run } from './run.ts';

/** A compiled template. Shared by all hosts: it contains no data of a run. */
export type JinjaTemplate = {
  readonly source: TemplateSource;
  readonly execute: Execute;
  readonly blocks: readonly BlockBody[];
};

export type BlockBody = {
  readonly template: JinjaTemplate;
  readonly name: string;
  readonly isRequired: boolean;
  readonly execute: Execute;
};

/** Data that the templates of one rendering share. */
export type JinjaProgram = {
  readonly run: Run;
  /**
   * Returns the globals of the environment, always the same ones: loading a template sets `tplfile`,
   * `tpldir`, `tpldot` in them.
   */
  readonly globals: () => Names;
  /** Loads a template by name, relative to `tpldir` if it begins with a dot. */
  readonly load: (name: string) => JinjaTemplate;
  /** Modules imported without context, one per template. */
  readonly modules: Map<JinjaTemplate, Module>;
};

/** An imported template: its exported variables and, as a string, its output. */
export class Module extends Thing {
  override readonly typeName = 'TemplateModule';
  readonly #name: string;
  readonly #values: ReadonlyMap<string, Value>;
  readonly #text: string;

  constructor(name: string, values: ReadonlyMap<string, Value>, text: string) {
    super();
    this.#name = name;
    this.#values = values;
    this.#text = text;
  }
  override attribute(name: string): Value | undefined {
    return this.#values.get(name);
  }
  override item(key: Value): Value | undefined {
    return typeof key === 'string' ? this.#values.get(key) : undefined;
  }
  override text(): string {
    return this.#text;
  }
  override holds(): readonly Value[] {
    return [this.#text];
  }
  override repr(): string {
    return `<TemplateModule '${this.#name}'>`;
  }
}
