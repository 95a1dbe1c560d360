import {
  type FunctionTable,
  type ModuleContext,
  type ModuleFunction,
  type PlainDict,
  withContext,
} from '../../src/modules/api.ts';

/** The modules of a test: name of a module → its namespace. */
export type Modules = { readonly [name: string]: object };

/** A run's context with real modules in it: `{ cmd: await import('…/exec/cmd.ts') }`. */
export const contextOf = (
  exec: Modules,
  {
    states = {},
    grains = {},
    opts = {},
    pillar = {},
  }: { states?: Modules; grains?: PlainDict; opts?: PlainDict; pillar?: PlainDict } = {},
): ModuleContext => ({
  salt: tableOf(exec),
  states: tableOf(states),
  utils: {},
  grains: { shell: '/bin/sh', os_family: 'Debian', os: 'Debian', kernel: 'Linux', ...grains },
  pillar,
  opts: { id: 'host1', test: false, saltenv: 'base', ...opts },
  context: {},
  env: 'base',
  log: () => {},
});

/** Runs `work` as part of a run with these modules. */
export const within = <T>(context: ModuleContext, work: () => Promise<T>): Promise<T> =>
  withContext(context, work);

/** Runs the same in test mode. */
export const testing = (context: ModuleContext): ModuleContext => ({
  ...context,
  opts: { ...context.opts, test: true },
});

const tableOf = (modules: Modules): FunctionTable => {
  const table: { [name: string]: ModuleFunction } = {};
  for (const [module, namespace] of Object.entries(modules)) {
    const aliases = (namespace as { __func_alias__?: Record<string, string> }).__func_alias__ ?? {};
    for (const [name, value] of Object.entries(namespace))
      if (typeof value === 'function' && !name.startsWith('_'))
        table[`${module}.${aliases[name] ?? name}`] = async (...args) => value(...args);
  }
  return table;
};
