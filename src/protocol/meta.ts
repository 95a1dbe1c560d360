import type { Plain } from './plain.ts';

export type ModuleKind =
  | 'exec'
  | 'state'
  | 'grains'
  | 'utils'
  | 'contracts'
  | 'renderers'
  | 'pillar'
  | 'outputters'
  | 'matchers'
  | 'returners';

/** One parameter of a module function, read from its source. */
export type Param = {
  readonly name: string;
  /** The TypeScript type as written, e.g. `string | string[]`; absent in JavaScript. */
  readonly type?: string;
  readonly optional?: boolean;
  /** A literal default; `{ code }` when the default is not a literal. */
  readonly default?: Plain | { readonly code: string };
  readonly doc?: string;
};

/** How a function is called: positional parameters, then one options object of keywords. */
export type FunctionSignature = {
  readonly positional: readonly Param[];
  /** `...rest` after the positional ones: Salt's `*args`. */
  readonly rest?: Param;
  /** Keys of the options object; absent when the function takes none. */
  readonly keywords?: readonly Param[];
  /** The options object takes any further key: Salt's `**kwargs`. */
  readonly anyKeyword?: boolean;
};

/**
 * `@unknown` of a state function's comment: `ignored` leaves out arguments that the function does
 * not have, with a warning; `variables` passes them to its template, if it has one.
 */
export type UnknownArguments = 'ignored' | 'variables';

export type FunctionMeta = {
  /** Public name, aliases applied. */
  readonly name: string;
  /** Name in the source. */
  readonly exportName: string;
  readonly signature: FunctionSignature;
  readonly doc?: string;
  readonly returns?: string;
  readonly examples?: readonly string[];
  /** How a state treats unknown arguments, if it does not refuse them. */
  readonly unknown?: UnknownArguments;
  /** A built-in function whose sources cannot read grains: it may run before they are collected. */
  readonly needsNoGrains?: true;
  readonly line: number;
};

export type ModuleMeta = {
  readonly kind: ModuleKind;
  /** File name without extension: the module's name unless `__virtualname__` sets another. */
  readonly file: string;
  readonly path: string;
  readonly virtualname?: string;
  /** Names that `__virtual__` may return, if the source shows them. */
  readonly virtual?: readonly string[];
  /** `__virtual__` computes its name, which is known only on a host. */
  readonly anyName?: true;
  /** Some functions may only exist at run time: the host is asked whether one exists. */
  readonly dynamic?: true;
  readonly builtin: boolean;
  readonly saltenv?: string;
  readonly doc?: string;
  /** `@maintainer`, `@maturity`, `@depends`, `@platform`. */
  readonly tags?: Readonly<Record<string, string>>;
  readonly functions: readonly FunctionMeta[];
  /** `mod_init`, `mod_watch` … of a state module: known to the engine, not callable from SLS. */
  readonly hooks?: readonly FunctionMeta[];
  /** `__contracts__`, when the module has it. */
  readonly contracts?: readonly string[];
  readonly outputters?: Readonly<Record<string, string>>;
  /** A state module that the `auto_state` contract derives from an execution module. */
  readonly auto?: boolean;
  /** Why the module was left out: it could not be parsed or bundled. */
  readonly broken?: string;
  /** The module imports `__pillar__`: its runs receive the whole pillar. */
  readonly usesPillar?: boolean;
  /**
   * The complete `salt://…` strings in the source of a user's module: its runs may fetch these
   * files.
   */
  readonly sources?: readonly string[];
};

/** The signature of a function with unknown arguments. */
export const openSignature: FunctionSignature = {
  positional: [],
  rest: { name: 'args' },
  anyKeyword: true,
};
