import { which } from '../modules/_shared/commands/which.ts';
import { asModule, type DependsMark, dependsKey, getContext } from '../modules/api.ts';
import { messageOf } from '../protocol/error.ts';
import type { ManifestModule } from '../protocol/manifest.ts';
import { applyContracts, type ContractFinder } from './contracts.ts';

export type ModuleExports = Readonly<Record<string, unknown>>;
// biome-ignore lint/suspicious/noExplicitAny: a module's function takes what its author says
export type AnyFunction = (...args: any[]) => unknown;

/** A module that was evaluated, or the reason why it is missing. */
export type Loaded =
  | {
      readonly ok: true;
      readonly source: ManifestModule;
      /** Its public name. */
      readonly name: string;
      readonly exports: ModuleExports;
    }
  | {
      readonly ok: false;
      readonly source: ManifestModule;
      readonly reason: string;
      /** The error that it threw. */
      readonly cause?: unknown;
      /** Its `__virtual__` declined: this is not an error. */
      readonly declined?: boolean;
    };

export type MaybePromise<T> = T | Promise<T>;

/**
 * Evaluates a module and calls its `__virtual__`; with `as`, uses that name without the call. Log
 * lines during the evaluation have the module's name.
 */
export const loadModule = (
  source: ManifestModule,
  contracts: ContractFinder,
  as?: string,
): MaybePromise<Loaded> => asModule(source.name, () => evaluate(source, contracts, as));

const evaluate = (
  source: ManifestModule,
  contracts: ContractFinder,
  as?: string,
): MaybePromise<Loaded> => {
  if (source.broken !== undefined || !source.load)
    return { ok: false, source, reason: source.broken ?? 'it was left out of the artifact' };
  try {
    const evaluated = source.load();
    if (!isPromise(evaluated))
      return begin(source, applyContracts(source, evaluated, contracts), as);
    return evaluated
      .then(exports => begin(source, applyContracts(source, exports, contracts), as))
      .catch(error => broken(source, error));
  } catch (error) {
    return broken(source, error);
  }
};

const broken = (source: ManifestModule, cause: unknown): Loaded => ({
  ok: false,
  source,
  reason: `${messageOf(cause)} (${source.path})`,
  cause,
});

/** Calls `__virtual__` of an evaluated module and sets it up. */
const begin = (
  source: ManifestModule,
  exports: ModuleExports,
  as?: string,
): MaybePromise<Loaded> => {
  const named = (verdict: unknown): MaybePromise<Loaded> => {
    const name = as ?? virtualName(source, exports, verdict);
    if (typeof name !== 'string') return { ok: false, source, reason: name.reason, declined: true };
    return chain(initialise(exports), () => ({ ok: true, source, name, exports }) as Loaded);
  };
  const { __virtual__ } = exports;
  try {
    const verdict = as === undefined && isFunction(__virtual__) ? __virtual__() : true;
    const loaded = chain(verdict, named);
    return isPromise(loaded) ? loaded.catch(error => broken(source, error)) : loaded;
  } catch (error) {
    return broken(source, error);
  }
};

/**
 * Applies Salt's rules for the return of `__virtual__` (spec/execution-modules: "__virtual__
 * Function").
 */
const virtualName = (
  source: ManifestModule,
  exports: ModuleExports,
  verdict: unknown,
): string | { reason: string } => {
  if (typeof verdict === 'string' && verdict !== '') return verdict;
  if (verdict === true)
    return typeof exports.__virtualname__ === 'string' ? exports.__virtualname__ : source.name;
  const refused = `'${source.name}' __virtual__ returned False`;
  if (Array.isArray(verdict) && verdict[0] !== true)
    return { reason: typeof verdict[1] === 'string' ? `${refused}: ${verdict[1]}` : refused };
  if (Array.isArray(verdict)) return virtualName(source, exports, true);
  if (!verdict) return { reason: refused };
  return {
    reason: `'${source.name}' __virtual__ returned ${shownVerdict(verdict)}, which is not true, false, a name or [false, reason]`,
  };
};

const shownVerdict = (verdict: unknown): string =>
  isFunction(verdict) ? 'a function' : messageOf(verdict).slice(0, 60);

const initialise = (exports: ModuleExports): unknown =>
  isFunction(exports.__init__) ? exports.__init__(getContext().opts) : undefined;

export type ResolvedFunction =
  | {
      readonly ok: true;
      readonly exportName: string;
      readonly fun: AnyFunction;
      /** It is marked by `depends()`. */
      readonly depends?: true;
    }
  | { readonly ok: false; readonly reason?: string };

/**
 * Finds the function with a public name: applies aliases, hides private functions, obeys
 * `depends()`. `has` returns whether an execution function exists.
 */
export const findFunction = (
  exports: ModuleExports,
  name: string,
  has: (name: string) => boolean,
): MaybePromise<ResolvedFunction> => {
  const exportName = exportNameOf(exports, name);
  const value = exportName === undefined ? undefined : exports[exportName];
  if (exportName === undefined || !isFunction(value) || isClass(value)) return { ok: false };
  const mark = (value as { [dependsKey]?: DependsMark })[dependsKey];
  if (!mark) return { ok: true, exportName, fun: value };
  return chain(
    firstMissing(mark.dependencies, has),
    (missing: string | undefined): ResolvedFunction => {
      const fun = missing === undefined ? value : mark.fallback;
      if (fun) return { ok: true, exportName, fun, depends: true };
      return { ok: false, ...(missing === undefined ? {} : { reason: missing }) };
    },
  );
};

/** Python's loader skips classes as well. */
const isClass = (value: AnyFunction): boolean =>
  /^class\b/.test(Function.prototype.toString.call(value));

const exportNameOf = (exports: ModuleExports, name: string): string | undefined => {
  if (name.startsWith('_')) return undefined;
  const aliases = aliasesOf(exports);
  const aliased = Object.keys(aliases).find(key => aliases[key] === name);
  if (aliased !== undefined) return aliased;
  return Object.hasOwn(exports, name) && !Object.hasOwn(aliases, name) ? name : undefined;
};

const aliasesOf = (exports: ModuleExports): Record<string, unknown> => {
  const { __func_alias__ } = exports;
  return typeof __func_alias__ === 'object' && __func_alias__ !== null
    ? (__func_alias__ as Record<string, unknown>)
    : {};
};

/** Returns the public functions of an evaluated module by public name. */
export const publicNames = (exports: ModuleExports): string[] => {
  const aliases = aliasesOf(exports);
  return Object.keys(exports)
    .filter(name => !name.startsWith('_') && isFunction(exports[name]))
    .map(name => (Object.hasOwn(aliases, name) ? String(aliases[name]) : name));
};

const firstMissing = (
  dependencies: DependsMark['dependencies'],
  has: (name: string) => boolean,
): MaybePromise<string | undefined> => {
  const [first, ...rest] = dependencies;
  if (first === undefined) return undefined;
  return chain(
    missingReason(first, has),
    (reason): MaybePromise<string | undefined> => reason ?? firstMissing(rest, has),
  );
};

const missingReason = (
  dependency: DependsMark['dependencies'][number],
  has: (name: string) => boolean,
): MaybePromise<string | undefined> => {
  if (typeof dependency === 'boolean') return dependency ? undefined : 'a dependency is missing';
  if (typeof dependency === 'function')
    return chain(dependency(), (answer: boolean) =>
      answer ? undefined : 'a dependency is missing',
    );
  if (/^\w+(\.\w+)+$/.test(dependency) && has(dependency)) return undefined;
  if (isInstalled(dependency)) return undefined;
  return which(dependency) === undefined ? `it needs '${dependency}'` : undefined;
};

const isInstalled = (name: string): boolean => {
  try {
    require.resolve(name);
    return true;
  } catch {
    return false;
  }
};

export const isFunction = (value: unknown): value is AnyFunction => typeof value === 'function';

export const isPromise = <T>(value: T | Promise<T>): value is Promise<T> =>
  typeof value === 'object' && value !== null && 'then' in value && isFunction(value.then);

/** Continues synchronously with a value and asynchronously with a promise. */
export const chain = <T, R>(
  value: MaybePromise<T>,
  next: (value: T) => MaybePromise<R>,
): MaybePromise<R> => (isPromise(value) ? value.then(next) : next(value));
