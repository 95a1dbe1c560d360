import { bindArguments } from '../data/signatures/bind.ts';
import { splitFunctionName } from '../data/signatures/function-name.ts';
import {
  asModule,
  type FunctionTable,
  getContext,
  SaltInvocationError,
  withContext,
} from '../modules/api.ts';
import { quickCheckOf } from '../modules/quick-check.ts';
import { indexKey, placesByName } from '../protocol/manifest/module-index.ts';
import type { Manifest, ManifestModule } from '../protocol/manifest.ts';
import { type FunctionSignature, openSignature } from '../protocol/meta.ts';
import { isPlainDict, type PlainDict } from '../protocol/plain.ts';
import { copyViews } from '../protocol/views.ts';
import type { FoundContract } from './contracts.ts';
import { ControlFunctions } from './control-functions.ts';
import { functionTable, helperTable, missingFunction } from './function-tables.ts';
import { signatureOfExport, signaturesOfExports } from './module-signatures.ts';
import type { ProviderOptions, Registry, Resolved, Unavailable } from './registry-types.ts';
import { providerOfSalt } from './salt-providers.ts';
import {
  type AnyFunction,
  chain,
  findFunction,
  isFunction,
  isPromise,
  type Loaded,
  loadModule,
  type MaybePromise,
  type ModuleExports,
  type ResolvedFunction,
} from './virtual.ts';

type Kind = 'exec' | 'state';
type Providers = Readonly<Record<string, string>>;
type Found = Resolved | Unavailable;

/** A grains or utils module after loading. */
export type LoadedModule = { readonly name: string; readonly exports: ModuleExports };
type ModuleFailure = {
  readonly name: string;
  readonly path: string;
  readonly reason: string;
  readonly declined: boolean;
  readonly cause?: unknown;
};

/** The registry with the functions that only the runtime itself uses. */
export type FullRegistry = Registry & {
  /** Loads every module of a kind (grains), and returns why the others did not load. */
  readonly all: (kind: 'grains' | 'utils') => Promise<{
    readonly modules: readonly LoadedModule[];
    readonly failures: readonly ModuleFailure[];
  }>;
};

/**
 * Finds and loads modules of the artifact. A module is evaluated on first use; one that fails is
 * left out with its reason. Grains, opts and pillar are those of the caller's current context
 * (`getContext()`).
 */
export const createRegistry = (manifest: Manifest): FullRegistry => new Modules(manifest);

class Modules implements FullRegistry {
  readonly #manifest: Manifest;
  readonly #control: ControlFunctions;
  readonly #loaded = new Map<string, MaybePromise<Loaded>>();
  /**
   * Modules that are being loaded: requests for them from their own code are answered by the
   * manifest.
   */
  readonly #loading = new Set<ManifestModule>();
  readonly #signatures = new Map<ManifestModule, Map<string, FunctionSignature | undefined>>();
  /** Lookups of a `__virtual__` that had to wait. */
  readonly #asked = new Set<Promise<unknown>>();
  /** The places of the manifest's own modules. */
  #byName: ReadonlyMap<string, readonly number[]> | undefined;
  /** State functions that were found, by name. */
  readonly #states = new Map<string, Resolved>();
  readonly salt: FunctionTable;
  readonly states: FunctionTable;
  readonly utils: { readonly [name: string]: unknown };

  constructor(manifest: Manifest) {
    this.#manifest = manifest;
    this.#control = new ControlFunctions(manifest);
    this.salt = this.#table('exec', {});
    this.states = this.#table('state', {});
    this.utils = helperTable(name => this.#findHelper(name));
  }

  resolve = (kind: Kind, name: string, options: ProviderOptions = {}): MaybePromise<Found> => {
    if (kind === 'state' && options.provider === undefined && options.providers === undefined)
      return this.#resolveState(name);
    const [module] = splitFunctionName(name);
    const providers = {
      ...(options.provider === undefined ? {} : { [module]: options.provider }),
      ...options.providers,
    };
    if (kind === 'exec') return this.#find(kind, name, providers);
    const state = this.#resolveState(name);
    if (Object.keys(providers).length === 0) return state;
    return chain(state, (found: Found): Found => {
      if (!found.ok) return found;
      const salt = this.#table('exec', providers);
      return {
        ...found,
        call: (args, kwargs) =>
          withContext({ ...getContext(), salt }, () => found.call(args, kwargs)),
      };
    });
  };

  /** Looks a state function up once: the answer holds for all chunks, unless it depends on the host. */
  #resolveState(name: string): MaybePromise<Found> {
    const known = this.#states.get(name);
    if (known) return known;
    const found = this.#find('state', name, {});
    if (!isPromise(found) && found.ok && !found.depends) this.#states.set(name, found);
    return found;
  }

  hook = async (module: string, name: string): Promise<AnyFunction | undefined> => {
    const chosen = await this.#choose('state', module, {});
    const value = chosen?.ok ? chosen.exports[name] : undefined;
    return isFunction(value)
      ? (...args) =>
          chain(
            asModule(module, () => value(...args)),
            copyViews,
          )
      : undefined;
  };

  provider = async (module: string): Promise<string> => {
    const chosen = await this.#choose('exec', module, {});
    return chosen?.ok ? chosen.source.name : '';
  };

  names = (kind: Kind): readonly string[] => {
    const own = this.#all()
      .filter(module => module.kind === kind && module.functions !== '')
      .flatMap(module =>
        module.functions.split(' ').map(name => `${(module.virtual ?? [module.name])[0]}.${name}`),
      );
    const control = kind === 'exec' ? this.#control.names() : [];
    return [...new Set([...own, ...control])].sort();
  };

  available = async (kind: Kind): Promise<readonly string[]> => {
    const found: string[] = [];
    for (const name of this.names(kind))
      if ((await this.#find(kind, name, {})).ok) found.push(name);
    return found;
  };

  refresh = (): void => {
    this.#states.clear();
    for (const [key, loaded] of this.#loaded)
      if (!isPromise(loaded) && !loaded.ok) this.#loaded.delete(key);
  };

  all = async (
    kind: 'grains' | 'utils',
  ): Promise<{ modules: LoadedModule[]; failures: ModuleFailure[] }> => {
    const modules: LoadedModule[] = [];
    const failures: ModuleFailure[] = [];
    for (const source of this.#all().filter(module => module.kind === kind)) {
      const loaded = await this.#load(source);
      if (loaded.ok) modules.push({ name: loaded.name, exports: loaded.exports });
      else {
        const { name, path } = source;
        const { reason, declined = false, cause } = loaded;
        failures.push({ name, path, reason, declined, cause });
      }
    }
    return { modules, failures };
  };

  #candidates(kind: string, name: string): readonly ManifestModule[] {
    const named = this.#goingBy(kind, name);
    return named.length > 0 ? named : this.#goingBy(kind, '*');
  }

  #goingBy(kind: string, name: string): readonly ManifestModule[] {
    const { modules, builtins } = this.#manifest;
    this.#byName ??= placesByName(modules);
    const own = this.#byName.get(indexKey(kind, name)) ?? [];
    return [...own.flatMap(at => modules[at] ?? []), ...(builtins?.named(kind, name) ?? [])];
  }

  #all(): readonly ManifestModule[] {
    const { modules, builtins } = this.#manifest;
    return builtins ? [...modules, ...builtins.all()] : modules;
  }

  #load(source: ManifestModule, as?: string): MaybePromise<Loaded> {
    const key = `${source.kind} ${source.name} ${source.builtin ?? ''} ${source.path} ${as ?? ''}`;
    const known = this.#loaded.get(key);
    if (known !== undefined) return known;
    this.#loading.add(source);
    this.#asked.clear();
    let loaded = loadModule(source, this.#contract, as);
    if (this.#asked.size > 0) {
      // `'x.y' in __salt__` had to wait: when it is known, call `__virtual__` again.
      loaded = Promise.all([...this.#asked, loaded]).then(() =>
        loadModule(source, this.#contract, as),
      );
    }
    const settle = (value: Loaded): Loaded => {
      this.#loading.delete(source);
      this.#loaded.set(key, value);
      return value;
    };
    const settled = chain(loaded, settle);
    this.#loaded.set(key, settled);
    return settled;
  }

  #contract = (name: string): FoundContract | undefined => {
    const [source] = this.#candidates('contracts', name);
    const exports = source?.load?.();
    if (exports && isPromise(exports))
      throw new Error(`The contract '${name}' must not have a top-level await.`);
    return source && exports && { exports, signatures: signaturesOfExports(source) };
  };

  /** Returns the module with a name, or the reason why the last candidate was refused. */
  #choose(kind: string, name: string, providers: Providers): MaybePromise<Loaded | undefined> {
    const provider = this.#provider(kind, name, providers);
    if (provider !== undefined) {
      const source = this.#named(kind, provider) ?? this.#named(kind, providerOfSalt(provider));
      if (source) return this.#load(source, name);
      const known = this.#candidates(kind, name).map(found => found.name);
      return { ok: false, source: missingSource, reason: noProvider(provider, name, known) };
    }
    return this.#firstThatGoesBy(name, this.#candidates(kind, name), undefined);
  }

  /** Returns the module whose file has this name. */
  #named(kind: string, name: string | undefined): ManifestModule | undefined {
    if (name === undefined) return undefined;
    return this.#candidates(kind, name).find(found => found.name === name);
  }

  #firstThatGoesBy(
    name: string,
    candidates: readonly ManifestModule[],
    refused: Loaded | undefined,
  ): MaybePromise<Loaded | undefined> {
    const [first, ...rest] = candidates;
    if (!first) return refused;
    return chain(this.#load(first), (loaded: Loaded) => {
      if (loaded.ok && loaded.name === name) return loaded;
      return this.#firstThatGoesBy(name, rest, refused ?? refusal(name, first, loaded));
    });
  }

  #provider(kind: string, name: string, providers: Providers): string | undefined {
    if (kind !== 'exec') return undefined;
    if (Object.hasOwn(providers, name)) return providers[name];
    const configured = getContext().opts.providers;
    if (!isPlainDict(configured) || !Object.hasOwn(configured, name)) return undefined;
    const value = configured[name];
    return typeof value === 'string' ? value : undefined;
  }

  #find(kind: Kind, name: string, providers: Providers): MaybePromise<Found> {
    const [module, fun = ''] = splitFunctionName(name);
    return chain(
      this.#choose(kind, module, providers),
      (chosen: Loaded | undefined): MaybePromise<Found> => {
        if (!chosen?.ok) return this.#onControl(kind, name) ?? missingFunction(kind, name, chosen);
        const has = (other: string): boolean => this.#has('exec', other, providers);
        return chain(findFunction(chosen.exports, fun, has), (found: ResolvedFunction): Found => {
          if (!found.ok) return this.#onControl(kind, name) ?? missingFunction(kind, name, found);
          const signature = this.#signature(chosen.source, found.exportName);
          const quickCheck = quickCheckOf(found.fun);
          return {
            ok: true,
            module,
            fun,
            signature: signature ?? openSignature,
            ...(found.depends ? { depends: true as const } : {}),
            ...(quickCheck ? { quickCheck } : {}),
            call: (args, kwargs) => {
              const bound = signature
                ? bindArguments(name, signature, args, kwargs)
                : { ok: true as const, values: unbound(args, kwargs) };
              if (!bound.ok) throw new SaltInvocationError(bound.message);
              const ret = asModule(module, () => found.fun(...bound.values));
              return isPromise(ret) ? withoutViewsLater(ret) : copyViews(ret);
            },
          } satisfies Resolved;
        });
      },
    );
  }

  #signature(source: ManifestModule, exportName: string): FunctionSignature | undefined {
    const known = this.#signatures.get(source) ?? new Map();
    this.#signatures.set(source, known);
    if (!known.has(exportName)) known.set(exportName, signatureOfExport(source, exportName));
    return known.get(exportName);
  }

  /** `'pkg.install' in __salt__`: also true while the module's `__virtual__` is waiting. */
  #has(kind: Kind, name: string, providers: Providers): boolean {
    const [module] = splitFunctionName(name);
    const candidates = this.#candidates(kind, module);
    if (candidates.some(candidate => this.#loading.has(candidate)))
      return this.names(kind).includes(name);
    const found = this.#find(kind, name, providers);
    if (isPromise(found)) {
      this.#asked.add(found);
      return this.names(kind).includes(name);
    }
    return found.ok;
  }

  #onControl(kind: Kind, name: string): Resolved | undefined {
    return kind === 'exec' ? this.#control.find(name) : undefined;
  }

  #table(kind: Kind, providers: Providers): FunctionTable {
    return functionTable({
      find: name => {
        const find = (): MaybePromise<Found> => this.#find(kind, name, providers);
        return getContext().collectGrains?.()?.then(find) ?? find();
      },
      has: name => this.#has(kind, name, providers),
      names: () => this.names(kind).filter(name => this.#has(kind, name, providers)),
    });
  }

  #findHelper(name: string): MaybePromise<ResolvedFunction> {
    const [module, fun = ''] = splitFunctionName(name);
    return chain(
      this.#choose('utils', module, {}),
      (chosen: Loaded | undefined): MaybePromise<ResolvedFunction> =>
        chosen?.ok
          ? findFunction(chosen.exports, fun, other => this.#has('exec', other, {}))
          : (chosen ?? { ok: false }),
    );
  }
}

/** Returns the arguments of a function whose signature is not known. */
const unbound = (args: readonly unknown[], kwargs: PlainDict): readonly unknown[] =>
  Object.keys(kwargs).length > 0 ? [...args, kwargs] : args;

/** Awaited, so that a stack trace shows the caller. */
const withoutViewsLater = async (value: Promise<unknown>): Promise<unknown> =>
  copyViews(await value);

/** Returns why a candidate for a name was refused, if that helps the caller. */
const refusal = (name: string, source: ManifestModule, loaded: Loaded): Loaded | undefined => {
  if (!loaded.ok) return source.anyName && source.name !== name ? undefined : loaded;
  // Salt reports no reason for states.
  if (source.builtin || source.name !== name || source.kind === 'state') return undefined;
  return { ok: false, source, reason: `this module goes by the name '${loaded.name}'` };
};

const noProvider = (provider: string, name: string, known: readonly string[]): string => {
  const list = [...new Set(known)].sort().join(', ');
  return `there is no provider '${provider}'${list ? ` of ${name}; there are: ${list}` : ''}`;
};

const missingSource: ManifestModule = {
  kind: 'exec',
  name: '',
  path: '',
  functions: '',
};
