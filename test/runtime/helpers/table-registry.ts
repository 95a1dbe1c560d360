import type { FunctionTable, ModuleFunction } from '../../../src/modules/api.ts';
import type { QuickCheck } from '../../../src/modules/quick-check.ts';
import type { FunctionSignature, Param } from '../../../src/protocol/meta.ts';
import type { Plain, PlainDict } from '../../../src/protocol/plain.ts';
import type { Hook, Registry } from '../../../src/runtime/registry-types.ts';

type TableFunction = {
  /** `name, one, two?, **`: positional parameters, optional ones with `?`, `**` takes any keyword. */
  readonly params: string;
  readonly run: (kwargs: PlainDict) => unknown;
  readonly quickCheck?: QuickCheck;
};

export type Table = {
  readonly exec?: Readonly<Record<string, TableFunction>>;
  readonly state?: Readonly<Record<string, TableFunction>>;
  readonly hooks?: Readonly<Record<string, Hook>>;
};

/** A registry over plain tables of functions: the loader's contract without its loading. */
export const tableRegistry = ({ exec = {}, state = {}, hooks = {} }: Table): Registry => {
  const tables = { exec, state };
  const resolve: Registry['resolve'] = async (kind, name) => {
    const table = tables[kind];
    const found = Object.hasOwn(table, name) ? table[name] : undefined;
    if (!found) return { ok: false, reason: `'${name}' is not available.` };
    const [module = '', fun = ''] = name.split('.');
    const signature = signatureOf(found.params);
    return {
      ok: true,
      module,
      fun,
      signature,
      ...(found.quickCheck ? { quickCheck: found.quickCheck } : {}),
      call: async (args, kwargs) => found.run(bindTable(signature, args, kwargs)),
    };
  };
  return {
    salt: functionTable('exec', exec, resolve),
    states: functionTable('state', state, resolve),
    utils: {},
    resolve,
    hook: async (module, name) => {
      const key = `${module}.${name}`;
      if (Object.hasOwn(hooks, key)) return hooks[key];
      const known = state[key];
      return known && (() => known.run({}));
    },
    provider: async module => module,
    names: kind => Object.keys(tables[kind]),
  };
};

const signatureOf = (params: string): FunctionSignature => {
  const names = params.split(',').map(part => part.trim());
  const positional: Param[] = names
    .filter(name => name !== '' && name !== '**')
    .map(name => (name.endsWith('?') ? { name: name.slice(0, -1), optional: true } : { name }));
  return { positional, ...(names.includes('**') ? { anyKeyword: true } : {}) };
};

const bindTable = (
  { positional }: FunctionSignature,
  args: readonly Plain[],
  kwargs: PlainDict,
): PlainDict => ({
  ...Object.fromEntries(args.map((value, at) => [positional[at]?.name ?? `arg${at}`, value])),
  ...kwargs,
});

const functionTable = (
  kind: 'exec' | 'state',
  table: Readonly<Record<string, TableFunction>>,
  resolve: Registry['resolve'],
): FunctionTable => {
  const functions: Record<string, ModuleFunction> = {};
  for (const name of Object.keys(table))
    functions[name] = async (...args) => {
      const found = await resolve(kind, name);
      if (!found.ok) throw new Error(found.reason);
      return found.call(args as Plain[], {});
    };
  return functions;
};
