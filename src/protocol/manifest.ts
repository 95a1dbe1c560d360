import type { FunctionSignature, ModuleKind } from './meta.ts';

/**
 * One module inside the artifact. Long data are inside functions, which V8 compiles on their first
 * call, so that unused modules cost nothing at start.
 */
export type ManifestModule = {
  readonly kind: ModuleKind;
  /** Name of its file: `aptpkg`, `my_cloud.my_resource`. */
  readonly name: string;
  /**
   * Names that it may take (`__virtualname__`, strings that `__virtual__` returns); absent: only
   * its own.
   */
  readonly virtual?: readonly string[];
  /** `__virtual__` computes the name, so the module must be evaluated. */
  readonly anyName?: true;
  readonly builtin?: true;
  /** Path of its source below its folder of modules, for messages. */
  readonly path: string;
  /** Evaluates the module. One with a top-level `await` returns a promise. Absent if `broken`. */
  readonly load?: () =>
    | Readonly<Record<string, unknown>>
    | Promise<Readonly<Record<string, unknown>>>;
  /** Public function names, separated by spaces. */
  readonly functions: string;
  /** Returns the signatures of its exports as JSON, in `namedLines`. */
  readonly signatures?: () => string;
  readonly contracts?: readonly string[];
  /** Why it was left out. */
  readonly broken?: string;
  /** A state module that the `auto_state` contract derives from this execution module. */
  readonly auto?: true;
};

/** The modules that tsalt-ssh brings along. A start makes only those that are looked for. */
export type BuiltinModules = {
  /** All of them, in their order. */
  readonly all: () => readonly ManifestModule[];
  /** Those of a kind that may take a name, in their order; for `*` those that compute theirs. */
  readonly named: (kind: string, name: string) => readonly ManifestModule[];
};

/** The data that the artifact's entry passes to the runtime. */
export type Manifest = {
  /** The user's modules; without `builtins` all modules. They are asked first. */
  readonly modules: readonly ManifestModule[];
  readonly builtins?: BuiltinModules;
  /** Functions of the control node, separated by spaces. */
  readonly control: string;
  /** JSON of `Record<function, Signature>` for those of them that have one. */
  readonly controlSignatures?: string;
};

/** A function that runs on the control node, as the bundler needs it. */
export type ControlFunction = { readonly name: string; readonly signature?: FunctionSignature };
