/**
 * `tsalt-ssh/sls`: the API for an SLS written in TypeScript. The values are those of the current
 * rendering, so a module may be shared by many hosts.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { FunctionTable, Grains, SaltTable, StateTable } from '../../modules/api.ts';
import { dataView, view } from '../../protocol/views.ts';

// biome-ignore lint/suspicious/noExplicitAny: what pillar and functions hold is the user's matter
type Any = any;

/** The argument of `run`, also available under the dunder names. */
export type SlsContext = {
  readonly salt: SaltTable;
  readonly grains: Grains;
  readonly pillar: { readonly [name: string]: Any };
  readonly opts: { readonly [name: string]: Any };
  readonly saltenv: string;
  readonly sls: string;
  readonly [name: string]: Any;
};

export const slsStorage: AsyncLocalStorage<SlsContext> = new AsyncLocalStorage();

const current = (): SlsContext => {
  const context = slsStorage.getStore();
  if (!context) throw new Error('used outside of a rendering: move it into run()');
  return context;
};

const data = (name: string): Any => dataView(() => current()[name] as object);

/**
 * Calls execution functions on the host: `await __salt__['cmd.run']('id')`. `tsalt-ssh types`
 * declares those of your own modules.
 */
export const __salt__: SaltTable = view(() => current().salt);
/**
 * Returns the table without its types, for names that only the rendering knows:
 * `await untyped(__salt__)[name]?.('x')`.
 */
export const untyped = (table: SaltTable): FunctionTable => table as unknown as FunctionTable;
/** The host's grains. */
export const __grains__: Grains = data('grains');
/** The host's pillar. */
export const __pillar__: SlsContext['pillar'] = data('pillar');
/** The options of the run. */
export const __opts__: SlsContext['opts'] = data('opts');

/** The state functions that are known; any other name is possible as well. */
type StateFunction = (keyof StateTable & string) | (string & Record<never, never>);

/** Arguments of a state; requisites hold references as `{ pkg: 'nginx' }` or texts. */
export type StateArguments = { readonly [name: string]: unknown };
/** One declared state; usable as a requisite of others. */
export type StateReference = { readonly [module: string]: string };

/** Collects states and returns them as an SLS: `const sls = builder(); … return sls.data()`. */
export type Builder = {
  /** `sls.state('pkg.installed', 'nginx', { version: '1.2' })` declares a state. */
  readonly state: (fun: StateFunction, id: string, args?: StateArguments) => StateReference;
  /** Includes other SLS. */
  readonly include: (...names: string[]) => void;
  /** Extends a state of an included SLS. */
  readonly extend: (fun: StateFunction, id: string, args: StateArguments) => void;
  /** Everything declared, as `run` returns it. Throws when an ID has the same module twice. */
  readonly data: () => { [id: string]: unknown };
};

/** Makes a builder for one SLS. */
export const builder = (): Builder => {
  const states = new Map<string, { [fun: string]: unknown }>();
  const extended = new Map<string, { [fun: string]: unknown }>();
  const included: string[] = [];

  const declare = (into: typeof states, fun: string, id: string, args: StateArguments) => {
    const [module = '', name = ''] = fun.split('.');
    if (name === '') throw new TypeError(`'${fun}' is no state function: write module.function`);
    const entry = into.get(id) ?? {};
    if (Object.keys(entry).some(known => known.split('.')[0] === module))
      throw new Error(`the ID '${id}' has two states of module '${module}'`);
    entry[fun] = Object.entries(args).map(([key, value]) => ({ [key]: requisite(key, value) }));
    into.set(id, entry);
    return { [module]: id };
  };

  return {
    state: (fun, id, args = {}) => declare(states, fun, id, args),
    include: (...names) => {
      included.push(...names);
    },
    extend: (fun, id, args) => {
      declare(extended, fun, id, args);
    },
    data: () => ({
      ...(included.length > 0 ? { include: included } : {}),
      ...Object.fromEntries(states),
      ...(extended.size > 0 ? { extend: Object.fromEntries(extended) } : {}),
    }),
  };
};

const requisites = /^(?:require|watch|onchanges|onfail|prereq|listen|use)(?:_in|_any|_all)?$/;

const requisite = (key: string, value: unknown): unknown =>
  requisites.test(key) && !Array.isArray(value) ? [value] : value;
