/**
 * `tsalt-ssh/module`: all that a module author imports. The names are Salt's; the values are
 * those of the run in which the function is called.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { HostOpts, LogLevel, ModuleEvent, OutputStream } from '../protocol/job.ts';
import { type LowChunk, lowTag } from '../protocol/low.ts';
import type { Plain, PlainDict } from '../protocol/plain.ts';
import type { StateResults } from '../protocol/result.ts';
import type { StackPosition } from '../protocol/stack.ts';
import { asView, dataView, view as viewOf } from '../protocol/views.ts';
import type { BuiltinFunctions, BuiltinStates } from './builtin-functions.ts';
import type { CoreGrains } from './core-grains.ts';
import { deepDiff } from './deep-diff.ts';
import { type Ensure, ensureWith } from './ensure.ts';
import { Kwargs, type UntypedFunction } from './typed-calls.ts';

export type { LowChunk } from '../protocol/low.ts';
export type { Plain, PlainDict } from '../protocol/plain.ts';
export type { StateReturn } from '../protocol/result.ts';
export type { CoreGrains } from './core-grains.ts';
export type { EnsureSteps, PlannedChange } from './ensure.ts';
export type {
  ContractCall,
  ContractFunction,
  ExtPillarFunction,
  MatchedHost,
  MatcherFunction,
  ModAggregate,
  ModInit,
  ModWatch,
  OutputterFunction,
  RendererFunction,
  SubStateRun,
} from './module-kinds.ts';
export type {
  DataDict,
  DataInput,
  GrainsOf,
  Named,
  TypedFunction,
  UntypedFunction,
  UntypedHelper,
} from './typed-calls.ts';
// biome-ignore lint/performance/noBarrelFile: users import everything from this file
export { Kwargs } from './typed-calls.ts';

// biome-ignore lint/suspicious/noExplicitAny: what a module returns is that module's matter
type Any = any;

/** A module function as callers see it: positional arguments, then one object of keywords. */
export type ModuleFunction = UntypedFunction;

/** Functions by dotted name; `'pkg.install' in __salt__` tests whether a function is available. */
export type FunctionTable = { readonly [name: string]: ModuleFunction };

/**
 * The execution functions of your own modules, by dotted name. `tsalt-ssh types` declares them; by
 * hand: `declare module 'tsalt-ssh/module' { interface SaltFunctions { 'my.fun': … } }`.
 */
// biome-ignore lint/suspicious/noEmptyInterface: declarations of the user are merged into it
export interface SaltFunctions {}

/** The state functions of your own modules: as `SaltFunctions`. */
// biome-ignore lint/suspicious/noEmptyInterface: declarations of the user are merged into it
export interface StateFunctions {}

/** The functions of your `_utils`: as `SaltFunctions`. */
// biome-ignore lint/suspicious/noEmptyInterface: declarations of the user are merged into it
export interface UtilFunctions {}

/** The names of your execution modules that replace built-in ones, with all of their functions. */
// biome-ignore lint/suspicious/noEmptyInterface: declarations of the user are merged into it
export interface ReplacedModules {}

/** The names of your state modules that replace built-in ones. */
// biome-ignore lint/suspicious/noEmptyInterface: declarations of the user are merged into it
export interface ReplacedStates {}

/** Grains by name: the core ones, and those of your `_grains`, which `tsalt-ssh types` declares. */
export interface Grains extends CoreGrains {}

type Replaced<Functions, Modules> = keyof Functions | `${keyof Modules & string}.${string}`;

/** The type of `__salt__`: your functions, and the built-in ones that they do not replace. */
export type SaltTable = SaltFunctions &
  Omit<BuiltinFunctions, Replaced<SaltFunctions, ReplacedModules>>;

/** The type of `__states__`. */
export type StateTable = StateFunctions &
  Omit<BuiltinStates, Replaced<StateFunctions, ReplacedStates>>;

/** The context that a run passes to its modules. The runtime creates it; tests may create their own. */
export type ModuleContext = {
  readonly salt: FunctionTable;
  readonly states: FunctionTable;
  readonly utils: { readonly [name: string]: Any };
  readonly grains: PlainDict;
  /** Collects the grains before a function is called by name. Absent where they are known. */
  readonly collectGrains?: (() => Promise<void> | undefined) | undefined;
  readonly pillar: PlainDict;
  readonly opts: HostOpts;
  /** Shared by all calls of the run: `__context__`. */
  readonly context: { [key: string]: Any };
  readonly env: string;
  /** Data that a contract passes to the function it calls: see `ctx`. */
  readonly ctx?: ContractContext;
  /** `stack` is the position at which the logged error was thrown. */
  readonly log: (
    level: LogLevel,
    module: string,
    message: string,
    stack?: readonly StackPosition[],
  ) => void;
  /** Shows what a command prints while it runs. Absent outside of a state and under `no_log`. */
  readonly output?: ((stream: OutputStream, text: string) => void) | undefined;
  /** Sends an event to the control node. Absent in unit tests. */
  readonly event?: ((event: ModuleEvent) => void) | undefined;
  /** The chunk whose state function runs: `__low__`. Absent outside of a state. */
  readonly low?: LowChunk;
  /** All chunks of the run: `__lowstate__`. */
  readonly lowstate?: readonly LowChunk[];
  /** Results so far, by tag: `__running__`. */
  readonly running?: StateResults;
  /** The file of the execution module that goes by a name. Absent in unit tests. */
  readonly provider?: ((module: string) => Promise<string>) | undefined;
  /** Asks the control node; see `ControlMethods`. Absent where there is none (unit tests). */
  readonly control?: ControlLink;
};

/** `ctx` of an Idem contract. */
export type ContractContext = {
  readonly test: boolean;
  /** The resource as `get` found it before `update` was called. */
  readonly before?: Any;
};

export type ControlLink = {
  readonly request: <T>(
    method: string,
    params: unknown,
    sink?: (bytes: Uint8Array) => void,
  ) => Promise<T>;
};

const storage = new AsyncLocalStorage<ModuleContext>();
let current: ModuleContext | undefined;

/** Installs the context of this process's run. */
export const setContext = (context: ModuleContext): void => {
  current = context;
};

/** Runs `work` with another context (a state with its own `test`, a parallel state, a test). */
export const withContext = <T>(context: ModuleContext, work: () => T): T =>
  storage.run(context, work);

/** The context of the caller. Throws when module code runs outside of any run. */
export const getContext = (): ModuleContext => {
  const context = storage.getStore() ?? current;
  if (!context) throw new Error('module code ran outside of a tsalt-ssh run');
  return context;
};

/** The chunk whose state function runs; undefined outside of a state, and outside of any run. */
export const currentLow = (): LowChunk | undefined => (storage.getStore() ?? current)?.low;

const view = <T extends object>(pick: (context: ModuleContext) => T): T =>
  dataView(() => pick(getContext()));

const functions = <T extends object>(pick: (context: ModuleContext) => T): T =>
  viewOf(() => pick(getContext()));

/** All execution functions: `await __salt__['cmd.run']('id', { runas: 'www' })`. */
export const __salt__: SaltTable = functions<SaltTable>(context => context.salt as never);
/** All state functions: `await __states__['file.managed']('/etc/motd', { contents: 'hi' })`. */
export const __states__: StateTable = functions<StateTable>(context => context.states as never);
/**
 * Returns the table without its types, for names that only the run knows:
 * `await untyped(__salt__)[name]?.('x')`.
 */
export const untyped = (table: SaltTable | StateTable): FunctionTable =>
  table as unknown as FunctionTable;
/** Helpers from `_utils`, by module name: `__utils__['my_util.helper'](…)`. */
export const __utils__: UtilFunctions = functions<UtilFunctions>(context => context.utils as never);
/** The grains of this host. */
export const __grains__: Grains = view<Grains>(context => context.grains as never);
/** The pillar of this host; importing it makes the pillar travel. `pillar.get` asks for one value. */
export const __pillar__: { readonly [name: string]: Any } = view(context => context.pillar);
/** The options of this run (minion opts): `__opts__.test` is true in test mode. */
export const __opts__: { readonly [name: string]: Any; readonly test: boolean } = view(
  context => context.opts,
);
/** The low chunk of the state that calls, without any right to change it. */
export const __low__: { readonly [name: string]: Any } = view(context => context.low ?? {});
/** The low chunks of the whole run. */
export const __lowstate__: readonly LowChunk[] = dataView(() => getContext().lowstate ?? [], []);
/** The results of the states that have run so far, by tag. */
export const __running__: { readonly [tag: string]: Any } = view(context => context.running ?? {});
/** A dictionary that lives as long as the run, shared by all modules. */
export const __context__: { [key: string]: Any } = view(context => context.context);
/** The saltenv of the state that is running: `String(__env__)` or `__env__.name`. */
export const __env__: { readonly name: string; toString(): string } = asView(
  {
    get name() {
      return getContext().env;
    },
    toString() {
      return getContext().env;
    },
    toJSON() {
      return getContext().env;
    },
  },
  () => getContext().env,
);

/** The data of the contract that called this function: `ctx.before` in an `update` of `auto_state`. */
export const ctx: ContractContext = view(
  context => context.ctx ?? { test: context.opts.test === true },
);

const caller = new AsyncLocalStorage<string>();

/** Runs a function of a module: `log` names that module meanwhile. For the loader. */
export const asModule = <T>(module: string, work: () => T): T => caller.run(module, work);

/**
 * A logger for one module. Lines reach the control node with host, module and level.
 *
 * @param module - The name on the lines; by default that of the module whose code runs.
 */
export const getLogger = (module?: string): Logger =>
  loggerOf(() => (module === undefined ? callerName() : String(module)));

const callerName = (): string => caller.getStore() ?? 'module';

const loggerOf = (module: () => string): Logger => {
  const at =
    (level: LogLevel) =>
    (...parts: unknown[]): void =>
      getContext().log(level, module(), parts.map(showPart).join(' '));
  return {
    trace: at('trace'),
    debug: at('debug'),
    info: at('info'),
    warning: at('warning'),
    error: at('error'),
    critical: at('critical'),
    output: text => getContext().output?.('stdout', text.endsWith('\n') ? text : `${text}\n`),
  };
};

export type Logger = Readonly<Record<LogLevel, (...parts: unknown[]) => void>> & {
  /** Shows a line while the state runs, like the output of a command; it is not logged. */
  readonly output: (text: string) => void;
};

const showPart = (part: unknown): string =>
  typeof part === 'string'
    ? part
    : part instanceof Error
      ? part.message
      : (JSON.stringify(part) ?? String(part));

/** The logger of the module whose function runs; `getLogger(name)` returns one with another name. */
export const log: Logger = loggerOf(callerName);

/** The base of the errors a module may throw to fail its call with a message for the user. */
export class SaltError extends Error {
  override readonly name: string = 'SaltError';
}

/** An execution module's work failed; the message goes to the user. */
export class CommandExecutionError extends SaltError {
  override readonly name = 'CommandExecutionError';
}

/** The caller's arguments make no sense. */
export class SaltInvocationError extends SaltError {
  override readonly name = 'SaltInvocationError';
}

/**
 * Brings one thing into a desired state: reads it, plans the change, answers test mode, applies the
 * change and verifies it. A CommandExecutionError or SaltInvocationError of any step fails the state
 * with its message.
 *
 * @param name the name of the state
 * @param steps how to read, plan, apply, and optionally verify
 * @returns the return of the state
 * @example
 * export const present = (name: string, { value }: { value: string }) =>
 *   ensure(name, {
 *     read: () => __salt__['thing.get'](name),
 *     plan: old => old === value
 *       ? `${name} is already ${value}`
 *       : { would: `${name} would be set`, done: `${name} was set`, changes: { old, new: value } },
 *     apply: () => __salt__['thing.set'](name, value),
 *   });
 */
export const ensure: Ensure = ensureWith(
  () => __opts__.test,
  (error): error is Error =>
    error instanceof CommandExecutionError || error instanceof SaltInvocationError,
);

/** Marks trailing keyword arguments beyond doubt: `__salt__['x.y']('a', kwargs({ b: 1 }))`. */
export const kwargs = <T extends { readonly [name: string]: unknown }>(values: T): Kwargs<T> =>
  new Kwargs(values);

type Dependency = string | boolean | (() => boolean | Promise<boolean>);
// biome-ignore lint/suspicious/noExplicitAny: any function may have dependencies
type AnyFunction = (...args: any[]) => any;

/** The key under which `depends` stores its conditions on a function, for the loader. */
export const dependsKey: unique symbol = Symbol.for('tsalt-ssh.depends') as never;
export type DependsMark = {
  readonly dependencies: readonly Dependency[];
  readonly fallback: AnyFunction | undefined;
};

/**
 * Makes a function conditional on dependencies: commands in PATH, npm packages, execution functions
 * by name (`'pkg.install'`), booleans, or predicates. If one is missing, the function is not
 * available, or `fallback` replaces it.
 *
 * @example export const list = depends('lsblk', (name: string) => …)
 */
export const depends = <F extends AnyFunction>(
  ...parts: [...Dependency[], F] | [...Dependency[], F, { fallback: AnyFunction }]
): F => {
  const last = parts.at(-1);
  const options =
    typeof last === 'object' && last !== null && 'fallback' in last ? last : undefined;
  const rest = options ? parts.slice(0, -1) : parts;
  const fun = rest.at(-1) as F;
  const wrapped = ((...args: unknown[]) => fun(...args)) as F;
  const mark: DependsMark = {
    dependencies: rest.slice(0, -1) as Dependency[],
    fallback: options?.fallback,
  };
  return Object.assign(wrapped, { [dependsKey]: mark });
};

/** The encoding of text on hosts. Salt's name for it; every host is taken to use UTF-8. */
export const __salt_system_encoding__ = 'utf-8';

/**
 * The tag of a low chunk, by which `mod_aggregate` finds it in `running`:
 * `state_|-id_|-name_|-fun`.
 */
export const gen_state_tag = (chunk: LowChunk): string => lowTag(chunk);

/**
 * Returns the differences between two dicts, compared recursively, for `changes`: `{ old: …, new: …
 * }`, empty if there are none. Keys named in `ignore` are not compared.
 */
export const deep_diff = (
  before: { readonly [key: string]: Any },
  after: { readonly [key: string]: Any },
  ignore: readonly string[] = [],
): { old?: PlainDict; new?: PlainDict } => deepDiff(before, after, ignore);

/** A value as JSON data, for functions that take anything. */
export type Json = Plain;
