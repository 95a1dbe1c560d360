import { type DependsMark, dependsKey, getContext } from '../modules/api.ts';
import type { ContractCall } from '../modules/module-kinds.ts';
import type { ManifestModule } from '../protocol/manifest.ts';
import type { FunctionSignature } from '../protocol/meta.ts';
import { isPlainDict } from '../protocol/plain.ts';
import { positionsOf } from '../protocol/stack.ts';
import { autoState } from './auto-state.ts';
import { checkContractReturn, checkDescription, optionErrors } from './contract-checks.ts';
import { signaturesOfExports } from './module-signatures.ts';

export type ContractExports = Readonly<Record<string, unknown>>;
// biome-ignore lint/suspicious/noExplicitAny: a module's function takes what its author says
type AnyFunction = (...args: any[]) => unknown;

type Signatures = Readonly<Record<string, FunctionSignature>>;

/** A contract that the user wrote. */
export type FoundContract = { readonly exports: ContractExports; readonly signatures: Signatures };

/** Finds a user's contract by its name. */
export type ContractFinder = (name: string) => FoundContract | undefined;

/** Idem's contracts, with the functions that each requires and their first parameters. */
const wanted: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  auto_state: { get: ['name'], list: [], create: ['name'], update: ['name'], delete: ['name'] },
  resource: { present: ['name'], absent: ['name'], describe: [] },
  describe: { describe: [] },
  soft_fail: {},
  returns: {},
};

const hooks = new Set([
  'describe',
  'mod_init',
  'mod_watch',
  'mod_aggregate',
  'mod_run_check',
  'mod_run_check_cmd',
]);

/**
 * Applies a module's contracts (`__contracts__`) to its exports: checks signatures, wraps calls,
 * and for `auto` adds the state functions of `auto_state`.
 * @throws if the module violates a contract, with all that is missing
 */
export const applyContracts = (
  source: ManifestModule,
  exports: ContractExports,
  find: ContractFinder = () => undefined,
): ContractExports => {
  const named = contractNames(exports);
  const general = generalContracts(source).filter(name => find(name) !== undefined);
  if (named === undefined && general.length === 0) return exports;
  const names = [...(named ?? []), ...general];
  const contracts = names.map(name => ({ name, found: find(name) }));
  const signatures: Signatures = signaturesOfExports(source);
  const functions = publicFunctions(exports);
  const violations = contracts.flatMap(contract => [
    ...(contract.found === undefined && !Object.hasOwn(wanted, contract.name)
      ? [`there is no contract '${contract.name}'`]
      : []),
    ...missing(contract, functions, signatures),
  ]);
  const calls = new Map<string, AnyFunction[]>();
  for (const name of functions.keys())
    calls.set(
      name,
      contracts.flatMap(contract => own(contract, 'call', name).slice(0, 1)),
    );
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
      { module: source.name, kind, fun: name, contracts, call, soft, checks: named !== undefined },
      fun,
    );
  }
  return source.auto ? autoState(source.name, wrapped, signatures) : wrapped;
};

const contractNames = ({ __contracts__ }: ContractExports): string[] | undefined => {
  if (__contracts__ === undefined) return undefined;
  if (Array.isArray(__contracts__)) return __contracts__.map(String);
  throw new Error("`__contracts__` must be a list, such as ['soft_fail']");
};

/**
 * Returns the user's contracts that apply to user modules without being named: `init` to all,
 * `my_cloud.init` to those below `my_cloud`.
 */
const generalContracts = ({ kind, name, builtin }: ManifestModule): string[] => {
  if (builtin || (kind !== 'exec' && kind !== 'state')) return [];
  const folders = name.split('.').slice(0, -1);
  return ['init', ...folders.map((_, at) => [...folders.slice(0, at + 1), 'init'].join('.'))];
};

type Functions = Map<string, { readonly exportName: string; readonly fun: AnyFunction }>;

const publicFunctions = (exports: ContractExports): Functions => {
  const aliases = isPlainDict(exports.__func_alias__) ? exports.__func_alias__ : {};
  const functions: Functions = new Map();
  for (const [exportName, fun] of Object.entries(exports)) {
    if (exportName.startsWith('_') || typeof fun !== 'function') continue;
    const name = Object.hasOwn(aliases, exportName) ? String(aliases[exportName]) : exportName;
    functions.set(name, { exportName, fun: fun as AnyFunction });
  }
  return functions;
};

type Contract = { readonly name: string; readonly found: FoundContract | undefined };

/** Returns the functions that a contract requires and the module lacks: `update(name, …)`. */
const missing = (
  { name, found: own }: Contract,
  functions: Functions,
  signatures: Signatures,
): string[] => {
  const wants: (readonly [string, readonly string[]])[] = own
    ? Object.keys(own.exports)
        .filter(key => key.startsWith('sig_'))
        .map(key => [key.slice(4), parametersOf(own, key)] as const)
    : Object.entries(Object.hasOwn(wanted, name) ? (wanted[name] ?? {}) : {});
  return wants.flatMap(([fun, parameters]) => {
    const found = functions.get(fun);
    const shown = `${fun}(${parameters.join(', ')})`;
    if (!found) return [`contract '${name}' wants a function ${shown}`];
    const signature = Object.hasOwn(signatures, found.exportName)
      ? signatures[found.exportName]
      : undefined;
    const known = namesOf(signature);
    const lacking = parameters.filter(parameter => !known.includes(parameter));
    if (signature && lacking.length > 0)
      return [
        `contract '${name}' wants ${shown}: '${fun}' has no parameter '${lacking.join("', '")}'`,
      ];
    return signature && name === 'auto_state' && !own
      ? optionErrors(fun, signature).map(fault => `contract 'auto_state': ${fault}`)
      : [];
  });
};

/**
 * Returns the parameters in a contract: `sig_get = ['name']` lists them; a function shows its own.
 */
const parametersOf = ({ exports, signatures }: FoundContract, key: string): readonly string[] => {
  const value = exports[key];
  if (Array.isArray(value)) return value.map(String);
  return namesOf(Object.hasOwn(signatures, key) ? signatures[key] : undefined);
};

const namesOf = (signature: FunctionSignature | undefined): string[] =>
  [...(signature?.positional ?? []), ...(signature?.keywords ?? [])].map(({ name }) => name);

/** Returns the steps of a contract for one function: `pre_get`, then `pre`. */
const own = ({ found }: Contract, step: string, fun: string): AnyFunction[] =>
  [`${step}_${fun}`, step].flatMap(key => {
    const value = found?.exports[key];
    return typeof value === 'function' ? [value as AnyFunction] : [];
  });

type Wrapping = {
  readonly module: string;
  readonly kind: string;
  readonly fun: string;
  readonly contracts: readonly Contract[];
  readonly call: AnyFunction | undefined;
  readonly soft: boolean;
  /** Whether results are checked: `returns` is implied. */
  readonly checks: boolean;
};

const wrap = (wrapping: Wrapping, fun: AnyFunction): AnyFunction => {
  const { module, kind, contracts, call, soft, checks } = wrapping;
  const describes =
    kind === 'state' &&
    wrapping.fun === 'describe' &&
    contracts.some(({ name }) => name === 'resource' || name === 'describe');
  const before = contracts.flatMap(contract => own(contract, 'pre', wrapping.fun));
  const after = contracts.flatMap(contract => own(contract, 'post', wrapping.fun)).reverse();
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
  const wrapped = async (...args: unknown[]): Promise<unknown> => {
    const ret = soft
      ? await softly(wrapping, args[0], () => invoke(...args))
      : await invoke(...args);
    if (checks && !hooks.has(wrapping.fun))
      checkContractReturn(`${module}.${wrapping.fun}`, kind, ret);
    if (describes) checkDescription(`${module}.${wrapping.fun}`, ret);
    return ret;
  };
  const depends = (fun as { [dependsKey]?: DependsMark })[dependsKey];
  return depends ? Object.assign(wrapped, { [dependsKey]: depends }) : wrapped;
};

/** `soft_fail`: converts an error into a return that reports it. */
const softly = async (
  { module, kind }: Wrapping,
  name: unknown,
  work: () => Promise<unknown>,
): Promise<unknown> => {
  try {
    return await work();
  } catch (error) {
    const comment = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    getContext().log('info', module, `soft_fail: ${comment}`, positionsOf(error));
    return kind === 'state'
      ? { name, result: false, comment, changes: {} }
      : { result: false, comment, ret: null };
  }
};
