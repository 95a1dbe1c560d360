import type { FunctionSignature, ModuleKind } from './meta.ts';

/**
 * One module inside the artifact. What is long stands in functions, which V8 compiles when they
 * are called, so that a module nobody uses costs nothing at start.
 */
export type ManifestModule = {
  readonly kind: ModuleKind;
  /** Name by its file: `aptpkg`, `my_cloud.my_resource`. */
  readonly name: string;
  /** Names it may take (`__virtualname__`, strings that `__virtual__` returns); absent: its own only. */
  readonly virtual?: readonly string[];
  /** `__virtual__` computes the name: the module must be asked. */
  readonly anyName?: true;
  readonly builtin?: true;
  /** Where its source is, from the folder of modules it lies in, for messages. */
  readonly path: string;
  /** Evaluates the module. Absent when `broken`. */
  /** Evaluates the module. One with a top-level `await` returns a promise. */
  readonly load?: () =>
    | Readonly<Record<string, unknown>>
    | Promise<Readonly<Record<string, unknown>>>;
  /** Public function names, separated by spaces. */
  readonly functions: string;
  /** Returns the JSON of `Record<export name, Signature>`. */
  readonly signatures?: () => string;
  readonly contracts?: readonly string[];
  /** Why it was left out. */
  readonly broken?: string;
  /** A state module that the `auto_state` contract makes out of this execution module. */
  readonly auto?: true;
};

/** Everything that the artifact's entry passes to the runtime. */
export type Manifest = {
  readonly modules: readonly ManifestModule[];
  /** Functions that live on the control node, separated by spaces. */
  readonly control: string;
  /** JSON of `Record<function, Signature>` for those of them that have one. */
  readonly controlSignatures?: string;
};

/** A function that runs on the control node, as the bundler needs it. */
export type ControlFunction = { readonly name: string; readonly signature?: FunctionSignature };
