import { CommandExecutionError } from '../modules/api.ts';
import type { ManifestModule } from '../protocol/manifest.ts';
import type { Signature } from '../protocol/meta.ts';
import { isPlainDict } from '../protocol/plain.ts';
import { autoState } from './auto-state.ts';

export type Exports = Readonly<Record<string, unknown>>;
// biome-ignore lint/suspicious/noExplicitAny: a module's function takes what its author says
type AnyFunction = (...args: any[]) => unknown;

/** What a contract of the user's (`_contracts/NAME.ts`) gets with every call. */
type ContractCall = {
  /** `my_cloud.my_resource` */
  readonly module: string;
  readonly fun: string;
  readonly args: unknown[];
  /** Calls the function itself with `args`. */
  readonly call: () => Promise<unknown>;
  /** In `post`: what the function gave. */
  readonly ret?: unknown;
};

/** The exports of a contract of the user's, by its name. */
export type ContractFinder = (name: string) => Exports | undefined;

/** Contracts of Idem's and the functions each wants, by their first parameters. */
const wanted: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  auto_state: { get: ['name'], list: [], create: ['name'], update: ['name'], delete: ['name'] },
  resource: { present: ['name'], absent: ['name'], describe: [] },
  describe: { describe: [] },
  soft_fail: {},
  returns: {},
};

const hooks = new Set(['describe', 'mod_init', 'mod_watch', 'mod_aggregate', 'mod_run_check']);

/**
 * A module's exports with its contracts (`__contracts__`) applied: signatures checked, calls
 * wrapped, and for `auto` the state functions that `auto_state` makes of it.
 * @throws when the module does not hold a contract, naming all that is missing
 */
export const applyContracts = (
  source: ManifestModule,
  exports: Exports,
  find: ContractFinder = () => undefined,
): Exports => {
  const names = contractNames(exports);
  if (names === undefined) return exports;
  const contracts = names.map(name => ({ name, exports: find(name) }));
  const signatures = JSON.parse(source.signatures?.() ?? '{}') as Record<string, Signature>;
  const functions = publicFunctions(exports);
  const violations = contracts.flatMap(contract => [
    ...(contract.exports === undefined && !Object.hasOwn(wanted, contract.name)
      ? [`there is no contract '${contract.name}'`]
      : []),
    ...missing(contract, functions, signatures),
  ]);
  const calls = new Map<string, AnyFunction[]>();
  for (const name of functions.keys()) calls.set(name, own(contracts, 'call', name));
  for (const [name, list] of calls)
    if (list.length > 1)
      violations.push(`'${name}' has ${list.length} call contracts; one is allowed`);
  if (violations.length > 0)
    throw new Error(`it does not hold its contracts: ${violations.join('; ')}`);
  const kind = source.auto ? 'exec' : source.kind;
  const wrapped: Record<string, unknown> = { ...exports };
  for (const [name, { exportName, fun }] of functions) {
    const call = calls.get(name)?.[0];
    const soft = names.includes('soft_fail') && !call;
    wrapped[exportName] = wrap(
      { module: source.name, kind, fun: name, contracts, call, soft },
      fun,
    );
  }
  return source.auto ? autoState(source.name, wrapped, signatures) : wrapped;
};

const contractNames = ({ __contracts__ }: Exports): string[] | undefined =>
  Array.isArray(__contracts__) ? __contracts__.map(String) : undefined;

type Functions = Map<string, { readonly exportName: string; readonly fun: AnyFunction }>;

const publicFunctions = (exports: Exports): Functions => {
  const aliases = isPlainDict(exports.__func_alias__) ? exports.__func_alias__ : {};
  const functions: Functions = new Map();
  for (const [exportName, fun] of Object.entries(exports)) {
    if (exportName.startsWith('_') || typeof fun !== 'function') continue;
    const name = Object.hasOwn(aliases, exportName) ? String(aliases[exportName]) : exportName;
    functions.set(name, { exportName, fun: fun as AnyFunction });
  }
  return functions;
};

type Contract = { readonly name: string; readonly exports: Exports | undefined };

/** What a contract wants and the module lacks: `update(name, …)`. */
const missing = (
  { name, exports }: Contract,
  functions: Functions,
  signatures: Readonly<Record<string, Signature>>,
): string[] => {
  const wants: (readonly [string, readonly string[]])[] = exports
    ? Object.keys(exports)
        .filter(key => key.startsWith('sig_'))
        .map(key => [key.slice(4), parametersOf(exports[key])] as const)
    : Object.entries(Object.hasOwn(wanted, name) ? (wanted[name] ?? {}) : {});
  return wants.flatMap(([fun, parameters]) => {
    const found = functions.get(fun);
    const shown = `${fun}(${parameters.join(', ')})`;
    if (!found) return [`contract '${name}' wants a function ${shown}`];
    const signature = Object.hasOwn(signatures, found.exportName)
      ? signatures[found.exportName]
      : undefined;
    const known = [...(signature?.positional ?? []), ...(signature?.keywords ?? [])];
    const lacking = parameters.filter(parameter => !known.some(param => param.name === parameter));
    return signature && lacking.length > 0
      ? [`contract '${name}' wants ${shown}: '${fun}' has no parameter '${lacking.join("', '")}'`]
      : [];
  });
};

/** `sig_get = ['name']` in a contract lists the parameters; a function asks for the name only. */
const parametersOf = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.map(String) : [];

/** Functions of the contracts for one function: `call_get`, else `call`. */
const own = (contracts: readonly Contract[], step: string, fun: string): AnyFunction[] =>
  contracts.flatMap(({ exports }) => {
    const found = exports?.[`${step}_${fun}`] ?? exports?.[step];
    return typeof found === 'function' ? [found as AnyFunction] : [];
  });

type Wrapping = {
  readonly module: string;
  readonly kind: string;
  readonly fun: string;
  readonly contracts: readonly Contract[];
  readonly call: AnyFunction | undefined;
  readonly soft: boolean;
};

const wrap = (wrapping: Wrapping, fun: AnyFunction): AnyFunction => {
  const { module, kind, contracts, call, soft } = wrapping;
  const before = own(contracts, 'pre', wrapping.fun);
  const after = own(contracts, 'post', wrapping.fun);
  const invoke = async (...args: unknown[]): Promise<unknown> => {
    const contract: ContractCall = {
      module,
      fun: wrapping.fun,
      args,
      call: async () => fun(...args),
    };
    for (const pre of before) await pre(contract);
    let ret = await (call ? call(contract) : contract.call());
    for (const post of after) ret = (await post({ ...contract, ret })) ?? ret;
    return ret;
  };
  return async (...args: unknown[]) => {
    const ret = soft ? await softly(kind, args[0], () => invoke(...args)) : await invoke(...args);
    if (!hooks.has(wrapping.fun)) checkReturn(`${module}.${wrapping.fun}`, kind, ret);
    return ret;
  };
};

/** `soft_fail`: an error becomes a return that says so. */
const softly = async (
  kind: string,
  name: unknown,
  work: () => Promise<unknown>,
): Promise<unknown> => {
  try {
    return await work();
  } catch (error) {
    const comment = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    return kind === 'state'
      ? { name, result: false, comment, changes: {} }
      : { result: false, comment, ret: null };
  }
};

/** `returns`: what a function of a module under contract must give (spec/idem-contracts). */
const checkReturn = (fun: string, kind: string, ret: unknown): void => {
  const keys =
    kind === 'state' ? ['result', 'comment', 'name', 'changes'] : ['result', 'comment', 'ret'];
  const lacking = isPlainDict(ret) ? keys.filter(key => !Object.hasOwn(ret, key)) : keys;
  if (lacking.length > 0)
    throw new CommandExecutionError(
      `'${fun}' does not hold the contract 'returns': its return must be a dictionary with ${keys.join(', ')}; it lacks ${lacking.join(', ')}`,
    );
};
