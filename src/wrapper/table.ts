import { splitFunctionName } from '../data/signatures/function-name.ts';
import type { FunctionSignature, ModuleMeta } from '../protocol/meta.ts';
import { signatureOf, type WrapperFunction, type WrapperModule, wrapperMeta } from './define.ts';
import { config } from './functions/config.ts';
import { cp } from './functions/cp.ts';
import { defaults } from './functions/defaults.ts';
import { grains } from './functions/grains.ts';
import { jinja } from './functions/jinja.ts';
import { logFunctions } from './functions/log.ts';
import { match } from './functions/match.ts';
import { mine } from './functions/mine.ts';
import { orch } from './functions/orch.ts';
import { pillar } from './functions/pillar.ts';
import { publish } from './functions/publish.ts';
import { saltVersion } from './functions/salt-version.ts';
import { saltutil } from './functions/saltutil.ts';
import { sdb } from './functions/sdb.ts';
import { slsutil } from './functions/slsutil.ts';
import { state } from './functions/state.ts';
import { sysModule } from './functions/sys.ts';
import { vault } from './functions/vault.ts';
import { hostFunction } from './host-functions.ts';

const modules: Readonly<Record<string, WrapperModule>> = {
  config,
  cp,
  defaults,
  grains,
  jinja,
  log: logFunctions,
  match,
  mine,
  orch,
  pillar,
  publish,
  salt_version: saltVersion,
  saltutil,
  sdb,
  slsutil,
  state,
  sys: sysModule(() => wrapperModules()),
  vault,
};

/** Returns the function of the control node with this name, if any. */
export const findWrapper = (name: string): WrapperFunction | undefined => {
  const dot = name.indexOf('.');
  const [file, fun] = [name.slice(0, dot), name.slice(dot + 1)];
  // Templates of hosts name functions too: `__proto__.get` is not one.
  const module = Object.hasOwn(modules, file) ? modules[file] : undefined;
  return module && Object.hasOwn(module.functions, fun) ? module.functions[fun] : undefined;
};

/** Returns the documentation of the functions of the control node. */
export const wrapperModules = (): ModuleMeta[] =>
  Object.entries(modules).map(([name, module]) => wrapperMeta(name, module));

/** The results of these functions differ from host to host. */
const asksHost = /^sys\.list_(?:state_)?(?:functions|modules)$/;

/** Whether a function needs only the sources, not a host. */
export const needsNoHost = (name: string): boolean =>
  !asksHost.test(name) &&
  (name.startsWith('sys.') || name.startsWith('saltutil.sync_')) &&
  findWrapper(name) !== undefined;

/** Whether a host forwards calls of this function. */
export const isControlFunction = (name: string): boolean =>
  hostFunction(name) !== undefined && findWrapper(name) !== undefined;

/**
 * Functions that only read grains, pillar, options and their arguments, and run no code of the
 * user: repeated calls return the same.
 */
const looking: Readonly<Record<string, readonly string[]>> = {
  config: ['backup_mode', 'dot_vals', 'get', 'items', 'manage_mode', 'merge', 'option'],
  defaults: ['deepcopy', 'merge', 'update'],
  grains: ['equals', 'fetch', 'filter_by', 'get', 'has_value', 'item', 'items', 'ls'],
  pillar: ['fetch', 'filter_by', 'get', 'keys', 'ls', 'raw'],
  salt_version: ['equal', 'get_release_number', 'greater_than', 'less_than'],
  slsutil: ['banner', 'boolstr', 'merge', 'merge_all', 'update'],
};

/** Whether a function of the control node only reads one host's data. */
export const isReadOnly = (name: string): boolean => {
  const [module, fun = ''] = splitFunctionName(name);
  return Object.hasOwn(looking, module) && looking[module]?.includes(fun) === true;
};

/** Returns the functions that a host forwards to the control node, with their signatures. */
export const controlFunctions = (): readonly ControlSignature[] => {
  forwarded ??= Object.entries(modules).flatMap(([module, { functions }]) =>
    Object.entries(functions)
      .map(([fun, spec]) => ({ name: `${module}.${fun}`, spec }))
      .filter(({ name }) => isControlFunction(name))
      .map(({ name, spec }) => ({ name, signature: signatureOf(spec) })),
  );
  return forwarded;
};

type ControlSignature = { readonly name: string; readonly signature: FunctionSignature };

/** Made once: a session has many runs. */
let forwarded: readonly ControlSignature[] | undefined;
