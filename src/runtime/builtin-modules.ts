import type { ManifestModule } from '../protocol/manifest.ts';

type Exports = Readonly<Record<string, unknown>>;

/** The code of a module, which is in a block of the artifact. */
export type ModuleCode = {
  /** Returns the JSON of `Record<export name, Signature>`. */
  readonly signatures: () => string;
  /** Evaluates the module. */
  readonly load: (lazily: Lazily) => Exports;
};

/** Makes the exports of several files, each of which is evaluated when one of its names is read. */
type Lazily = (files: readonly (readonly [names: string, load: () => Exports])[]) => Exports;

/** Finds and runs the code of built-in modules. */
type Code = {
  /** Returns the code of the module with that index. */
  readonly codeOf: (at: number) => ModuleCode;
  readonly lazily: Lazily;
};

/**
 * Makes the built-in modules of a manifest. A start makes two hundred of them and uses few: that is
 * faster from JSON than from code.
 *
 * @param facts - JSON: all but the code of each module
 */
export const builtinModules = (facts: string, code: Code): ManifestModule[] =>
  (JSON.parse(facts) as ManifestModule[]).map((module, at) => new BuiltinModule(module, at, code));

class BuiltinModule implements ManifestModule {
  readonly kind: ManifestModule['kind'];
  readonly name: string;
  readonly virtual?: readonly string[];
  readonly anyName?: true;
  readonly builtin = true;
  readonly path: string;
  readonly functions: string;
  readonly contracts?: readonly string[];
  readonly auto?: true;
  readonly #at: number;
  readonly #code: Code;

  constructor(facts: ManifestModule, at: number, code: Code) {
    this.kind = facts.kind;
    this.name = facts.name;
    if (facts.virtual) this.virtual = facts.virtual;
    if (facts.anyName) this.anyName = true;
    this.path = facts.path;
    this.functions = facts.functions;
    if (facts.contracts) this.contracts = facts.contracts;
    if (facts.auto) this.auto = true;
    this.#at = at;
    this.#code = code;
  }

  load(): Exports {
    const { codeOf, lazily } = this.#code;
    return codeOf(this.#at).load(lazily);
  }

  signatures(): string {
    return this.#code.codeOf(this.#at).signatures();
  }
}
