import { whyUnsupported } from '../data/unsupported.ts';
import {
  CommandExecutionError,
  type FunctionTable,
  Kwargs,
  type ModuleFunction,
} from '../modules/api.ts';
import { openSignature } from '../protocol/meta.ts';
import { isPlainDict } from '../protocol/plain.ts';
import { splitCall } from './bind.ts';
import type { Resolved, Unavailable } from './registry-types.ts';
import { chain, isPromise, type MaybePromise, type ResolvedFunction } from './virtual.ts';

/** Supplies the functions of a table. */
type Source = {
  readonly find: (name: string) => MaybePromise<Resolved | Unavailable>;
  readonly has: (name: string) => boolean;
  readonly names: () => readonly string[];
};

/** Makes a table of functions that are found and bound on call (`__salt__`, `__states__`). */
export const functionTable = ({ find, has, names }: Source): FunctionTable => {
  const functions = new Map<string, ModuleFunction>();
  const functionOf = (name: string): ModuleFunction => {
    const known = functions.get(name);
    if (known) return known;
    const fun: ModuleFunction = async (...args) => {
      const found = await find(name);
      if (!found.ok) throw new CommandExecutionError(found.reason);
      const call =
        found.signature === openSignature ? splitOpen(args) : splitCall(found.signature, args);
      // Awaited, so that a stack trace shows the caller.
      return await found.call(call.args as never, call.kwargs as never);
    };
    functions.set(name, fun);
    return fun;
  };
  return new Proxy({} as Record<string, ModuleFunction>, {
    get: (_, key) => (isName(key) ? functionOf(key) : undefined),
    has: (_, key) => isName(key) && has(key),
    ownKeys: () => [...names()],
    getOwnPropertyDescriptor: (_, key) =>
      isName(key) && has(key)
        ? { value: functionOf(key), enumerable: true, configurable: true, writable: false }
        : undefined,
    set: () => false,
  });
};

/**
 * Makes a table of helpers (`__utils__`): they are called without binding, and may return
 * synchronously.
 */
export const helperTable = (
  find: (name: string) => MaybePromise<ResolvedFunction>,
): { readonly [name: string]: unknown } => {
  const call =
    (name: string) =>
    (...args: unknown[]): unknown =>
      chain(find(name), (found: ResolvedFunction) => {
        if (!found.ok)
          throw new CommandExecutionError(missingFunction('utils', name, found).reason);
        return found.fun(...args);
      });
  return new Proxy({} as Record<string, unknown>, {
    get: (_, key) => (isName(key) ? call(key) : undefined),
    has: (_, key) => {
      if (!isName(key)) return false;
      const found = find(key);
      return isPromise(found) || found.ok;
    },
    set: () => false,
  });
};

const isName = (key: string | symbol): key is string =>
  typeof key === 'string' && key.includes('.');

/** Splits a call without a signature: a mapping at the end holds keyword arguments. */
const splitOpen = (args: readonly unknown[]) => {
  const last = args.at(-1);
  if (last instanceof Kwargs) return { args: args.slice(0, -1), kwargs: last.values };
  return args.length > 1 && isPlainDict(last)
    ? { args: args.slice(0, -1), kwargs: last }
    : { args, kwargs: {} };
};

const whyNotOnHost = (kind: 'exec' | 'state', name: string): string | undefined =>
  kind === 'exec' && name.startsWith('state.')
    ? "states are compiled on the control node; a module calls single ones by __states__['pkg.installed']"
    : whyUnsupported(kind, name);

/** Returns the error for a function that does not exist. */
export const missingFunction = (
  kind: 'exec' | 'state' | 'utils',
  name: string,
  { reason, cause }: { readonly reason?: string; readonly cause?: unknown } = {},
): Unavailable => {
  if (reason === undefined) {
    const why = kind === 'utils' ? undefined : whyNotOnHost(kind, name);
    return { ok: false, reason: `'${name}' is not available${why ? `: ${why}` : ''}.` };
  }
  if (kind === 'state' && / __virtual__ returned False/.test(reason)) return { ok: false, reason };
  const why = reason.replace(/^'[^']*' __virtual__ returned False: /, '');
  return { ok: false, reason: `'${name}' is not available: ${why}`, cause };
};
