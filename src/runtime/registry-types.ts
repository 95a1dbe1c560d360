import type { FunctionTable } from '../modules/api.ts';
import type { QuickCheck } from '../modules/quick-check.ts';
import type { FunctionSignature } from '../protocol/meta.ts';
import type { Plain, PlainDict } from '../protocol/plain.ts';

/** The modules that the loader can load, on first use. There is one registry per process. */
export type Registry = {
  /** All execution functions, as modules see them (`__salt__`). */
  readonly salt: FunctionTable;
  /** All state functions (`__states__`). */
  readonly states: FunctionTable;
  /** Helpers from `_utils` (`__utils__`). */
  readonly utils: { readonly [name: string]: unknown };
  /** Loads the module of `pkg.installed` and finds the function, or returns why it is missing. */
  readonly resolve: (
    kind: 'exec' | 'state',
    name: string,
    options?: ProviderOptions,
  ) => Resolved | Unavailable | Promise<Resolved | Unavailable>;
  /** A hook of a state module (`mod_init`, `mod_watch`, `mod_aggregate`, `mod_run_check`); undefined when it has none. */
  readonly hook: (module: string, name: string) => Promise<Hook | undefined>;
  /** Checks unavailable modules again: a new package may provide what they need. */
  readonly refresh?: () => void | Promise<void>;
  /**
   * Returns the file of the execution module with a name: `aptpkg` for `pkg`; empty if there is
   * none.
   */
  readonly provider: (module: string) => Promise<string>;
  /** Returns the names of all functions of a kind in the artifact. */
  readonly names: (kind: 'exec' | 'state') => readonly string[];
  /** Returns those that this host has: `__virtual__` and `depends` may remove functions. */
  readonly available?: (kind: 'exec' | 'state') => Promise<readonly string[]>;
};

export type ProviderOptions = {
  /** `provider: systemd` of a state: the module that replaces the state's own execution module. */
  readonly provider?: string;
  /** `providers: {pkg: apt}`: the same for several virtual modules. */
  readonly providers?: Readonly<Record<string, string>>;
};

export type Hook = (...args: unknown[]) => unknown;

export type Resolved = {
  readonly ok: true;
  readonly module: string;
  readonly fun: string;
  readonly signature: FunctionSignature;
  /** It names what it depends on: what is found may change while the run goes on. */
  readonly depends?: true;
  /** Tells whether the state has nothing to do, where that shows at a glance. */
  readonly quickCheck?: QuickCheck;
  /** Binds the arguments and calls, and returns what the function does. Throws `SaltInvocationError` when they do not fit. */
  readonly call: (args: readonly Plain[], kwargs: PlainDict) => unknown;
};

/** `reason` is a complete sentence: `'cheese.slice' is not available: enzymes unavailable`. */
export type Unavailable = {
  readonly ok: false;
  readonly reason: string;
  /** The error that the module threw when it was loaded. */
  readonly cause?: unknown;
};
