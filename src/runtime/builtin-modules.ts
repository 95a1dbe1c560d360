import { placesIn } from '../protocol/manifest/module-index.ts';
import type { BuiltinModules, ManifestModule } from '../protocol/manifest.ts';

type Exports = Readonly<Record<string, unknown>>;

/** The code of a module, which is in a block of the artifact. */
export type ModuleCode = {
  /** As `ManifestModule.signatures`. */
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
 * Opens the built-in modules of a base. There are two hundred of them, of which a run uses few: a module
 * is found by a search in a text and made from its line of another one.
 *
 * @param facts - a line of JSON for each module: all but its code
 * @param index - as `moduleIndexText` writes it
 */
export const openBuiltins = (facts: string, index: string, code: Code): BaseModules =>
  new BaseModules(facts, index, code);

/** The built-in modules of a base, or those of them that no module of the user hides. */
class BaseModules implements BuiltinModules {
  readonly #facts: string;
  readonly #index: string;
  readonly #code: Code;
  readonly #isThere: (at: number) => boolean;
  readonly #made: ManifestModule[] = [];
  #lines: readonly string[] | undefined;

  constructor(facts: string, index: string, code: Code, isThere = (_: number) => true) {
    this.#facts = facts;
    this.#index = index;
    this.#code = code;
    this.#isThere = isThere;
  }

  /** @param places - of the modules that are there */
  only(places: readonly number[]): BaseModules {
    const there = new Set(places);
    return new BaseModules(this.#facts, this.#index, this.#code, at => there.has(at));
  }

  all = (): readonly ManifestModule[] => this.#at([...this.#linesOf().keys()]);

  named = (kind: string, name: string): readonly ManifestModule[] =>
    this.#at(placesIn(this.#index, kind, name));

  #at(places: readonly number[]): ManifestModule[] {
    return places.filter(this.#isThere).map(at => {
      this.#made[at] ??= new BuiltinModule(
        JSON.parse(this.#linesOf()[at] ?? '') as ManifestModule,
        at,
        this.#code,
      );
      return this.#made[at];
    });
  }

  #linesOf(): readonly string[] {
    this.#lines ??= this.#facts.split('\n');
    return this.#lines;
  }
}

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
