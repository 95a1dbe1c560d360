/**
 * `tsalt-ssh/testing`: calls module functions without SSH, a host or an artifact, in any test
 * runner. See docs/reference/module-api.md.
 */
import type { LogLevel } from '../protocol/job.ts';
import type { PlainDict } from '../protocol/plain.ts';
import { copyViews } from '../protocol/views.ts';
import {
  CommandExecutionError,
  type ControlLink,
  type FunctionTable,
  Kwargs,
  type ModuleContext,
  type ModuleFunction,
  withContext,
} from './api.ts';

/** The exports of a module, or an object that replaces them. */
type ModuleLike = { readonly [name: string]: unknown };

export type TestSettings = {
  /** Modules in `__salt__`, by name: real ones (`import * as file from …`) or replacements. */
  readonly modules?: Readonly<Record<string, ModuleLike>>;
  /** Modules in `__states__`. */
  readonly states?: Readonly<Record<string, ModuleLike>>;
  /** Modules in `__utils__`. */
  readonly utils?: Readonly<Record<string, ModuleLike>>;
  readonly grains?: PlainDict;
  readonly pillar?: PlainDict;
  /** Further options, as in the minion's opts. */
  readonly opts?: PlainDict;
  /** Test mode: `__opts__.test`. */
  readonly test?: boolean;
  readonly saltenv?: string;
  /** Answers what a module asks of the control node. */
  readonly control?: ControlLink;
};

export type TestContext = {
  /** Calls `work` as the runtime would: all dunder names are those of this context. */
  readonly run: <T>(work: () => T) => T;
  /** The log messages, in order. */
  readonly logs: { readonly level: LogLevel; readonly module: string; readonly message: string }[];
  /** `__context__`. */
  readonly context: { [key: string]: unknown };
  /** Returns a copy with other settings: `t.with({ test: true })`. */
  readonly with: (settings: TestSettings) => TestContext;
};

/**
 * A context for tests of modules.
 * @param settings modules, grains, pillar and options for the functions under test
 * @example
 * const t = createTestContext({ modules: { my_custom_module: { current_state: () => 'old' } } });
 * const ret = await t.run(() => enforce_custom_thing('a', { foo: 'b' }));
 */
export const createTestContext = (settings: TestSettings = {}): TestContext => {
  const logs: { level: LogLevel; module: string; message: string }[] = [];
  const context: { [key: string]: unknown } = {};
  const saltenv = settings.saltenv ?? 'base';
  const made: ModuleContext = {
    salt: table('__salt__', settings.modules),
    states: table('__states__', settings.states),
    utils: table('__utils__', settings.utils),
    grains: settings.grains ?? {},
    pillar: settings.pillar ?? {},
    opts: { ...settings.opts, id: 'test', test: settings.test ?? false, saltenv },
    context,
    env: saltenv,
    log: (level, module, message) => logs.push({ level, module, message }),
    ...(settings.control ? { control: settings.control } : {}),
  };
  return {
    run: work => withContext(made, () => returned(work())),
    logs,
    context,
    with: more => createTestContext({ ...settings, ...more }),
  };
};

/** Copies `__grains__` and the like, which cannot be read outside of the context. */
const returned = <T>(value: T): T =>
  (value instanceof Promise ? value.then(copyViews) : copyViews(value)) as T;

const table = (
  label: string,
  modules: Readonly<Record<string, ModuleLike>> = {},
): FunctionTable => {
  const functions = new Map(
    Object.entries(modules).flatMap(([module, exports]) =>
      Object.entries(exports).flatMap(([name, value]): [string, ModuleFunction][] =>
        typeof value === 'function' && !name.startsWith('_')
          ? [[`${module}.${aliasOf(exports, name)}`, toModuleFunction(value as AnyFunction)]]
          : [],
      ),
    ),
  );
  return new Proxy({} as Record<string, ModuleFunction>, {
    get: (_, key) =>
      typeof key !== 'string' || !key.includes('.')
        ? undefined
        : (functions.get(key) ?? absent(label, key)),
    has: (_, key) => typeof key === 'string' && functions.has(key),
    ownKeys: () => [...functions.keys()],
    getOwnPropertyDescriptor: (_, key) =>
      typeof key === 'string' && functions.has(key)
        ? { value: functions.get(key), enumerable: true, configurable: true, writable: false }
        : undefined,
  });
};

const aliasOf = (exports: ModuleLike, name: string): string => {
  const aliases = exports.__func_alias__ as Record<string, string> | undefined;
  return aliases && Object.hasOwn(aliases, name) ? String(aliases[name]) : name;
};

type AnyFunction = (...args: unknown[]) => unknown;

const toModuleFunction =
  (fun: AnyFunction): ModuleFunction =>
  async (...args) =>
    copyViews(await fun(...args.map(arg => (arg instanceof Kwargs ? arg.values : arg))));

const absent =
  (label: string, name: string): ModuleFunction =>
  async () => {
    throw new CommandExecutionError(`'${name}' is not available: this test has no ${label} for it`);
  };
