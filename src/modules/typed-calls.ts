/** The types of calls between modules: see `SaltFunctions` and docs/guides/own-modules.md. */

/**
 * Keyword arguments, marked as such beyond doubt. `kwargs` of `tsalt-ssh/module` makes them.
 */
export class Kwargs<T = { readonly [name: string]: unknown }, Names = keyof T> {
  readonly values: T;
  /** Only in types: the compiler compares the names with the parameters of the function. */
  declare readonly names?: Names;
  /** If set, keywords that the function does not have are left out and reported to this callback. */
  readonly leftOut: ((names: readonly string[]) => void) | undefined;
  constructor(values: T, leftOut?: (names: readonly string[]) => void) {
    this.values = values;
    this.leftOut = leftOut;
  }
}

/** JSON data as an argument: lists and dicts may be read-only. */
export type DataInput =
  | null
  | boolean
  | number
  | string
  | readonly DataInput[]
  | { readonly [key: string]: DataInput | undefined };

// biome-ignore lint/suspicious/noExplicitAny: its values are only known on a host
type Any = any;

/** A dictionary that a function returns. */
export type DataDict = { [key: string]: Any };

/** A module function whose parameters are not known: positional arguments, then one object of keywords. */
export type UntypedFunction = (...args: unknown[]) => Promise<Any>;

/** A function of `_utils` whose parameters are not known. */
export type UntypedHelper = (...args: unknown[]) => Any;

/** Lets keywords be undefined where they may be left out, for `exactOptionalPropertyTypes`. */
type OrUndefined<T> = {
  [N in keyof T]: Record<never, never> extends Pick<T, N> ? T[N] | undefined : T[N];
};

/** Keywords of a call. */
export type Named<T> = OrUndefined<T> | Kwargs<OrUndefined<T>>;

type Options<K> = K extends null
  ? []
  : Record<never, never> extends K
    ? [options?: Named<K>]
    : [options: Named<K>];

/** The arguments that are given by position where others follow by name. */
type First<P extends readonly unknown[], Before extends readonly unknown[] = []> =
  Required<P> extends readonly [infer Head, ...infer Tail]
    ? Tail extends readonly []
      ? never
      : [...Before, Head] | First<Tail, [...Before, Head]>
    : never;

/**
 * A function of another module. `P` lists its positional parameters, `K` its keywords (null if it
 * takes none). `R` is its return type. `N` maps the names of the positional parameters to their
 * types: every argument may be given by name.
 */
export type TypedFunction<P extends readonly unknown[], K, R, N = unknown> = [First<P>] extends [
  never,
]
  ? ByName<K, R, N> & ByPosition<P, K, R>
  : Mixed<P, K, R, N> & ByName<K, R, N> & ByPosition<P, K, R>;

/** The last one: it is the one whose mismatch the compiler explains. */
type ByPosition<P extends readonly unknown[], K, R> = (
  ...args: [...P, ...Options<K>]
) => Promise<R>;

type ByName<K, R, N> = (named: unknown extends All<K, N> ? never : Named<All<K, N>>) => Promise<R>;

type Mixed<P extends readonly unknown[], K, R, N> = (
  ...args: [...First<P>, Named<Partial<All<K, N>>>]
) => Promise<R>;

type All<K, N> = K extends null ? N : N & K;

/** The static members of a function's returned dict, for `interface Grains extends …`. */
export type GrainsOf<F extends (...args: never[]) => unknown> = {
  [Name in keyof Awaited<ReturnType<F>> as string extends Name ? never : Name]: Awaited<
    ReturnType<F>
  >[Name];
};
