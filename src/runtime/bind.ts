import { Kwargs } from '../modules/api.ts';
import type { FunctionSignature } from '../protocol/meta.ts';
import { isPlainDict } from '../protocol/plain.ts';

type Call = {
  readonly args: readonly unknown[];
  readonly kwargs: Readonly<Record<string, unknown>>;
};

/**
 * Separates keywords from positional arguments in a call between modules,
 * `__salt__['cmd.run']('id', { runas: 'www' })`. `kwargs()` marks keywords explicitly. Otherwise a
 * trailing plain object is taken as keywords if all its keys are parameters, or if it follows the
 * last positional parameter of a function that takes keywords.
 */
export const splitCall = (signature: FunctionSignature, args: readonly unknown[]): Call => {
  const last = args.at(-1);
  const before = args.slice(0, -1);
  if (last instanceof Kwargs)
    return last.leftOut
      ? lenientCall(signature, before, last)
      : { args: before, kwargs: last.values };
  if (!isPlainDict(last)) return { args, kwargs: {} };
  const { positional, keywords, anyKeyword, rest } = signature;
  const names = new Set([...positional, ...(keywords ?? [])].map(({ name }) => name));
  const keys = Object.keys(last);
  const allNames = keys.length > 0 && keys.every(key => names.has(key));
  const behind = before.length >= positional.length && !rest;
  const isKeywords = allNames || (behind && (keywords !== undefined || anyKeyword === true));
  return isKeywords ? { args: before, kwargs: last } : { args, kwargs: {} };
};

/**
 * Binds a call leniently: positional arguments fill the parameters that are not named; unknown
 * names are dropped.
 */
const lenientCall = (
  { positional, keywords, anyKeyword, rest }: FunctionSignature,
  before: readonly unknown[],
  { values, leftOut }: Kwargs,
): Call => {
  const names = new Set([...positional, ...(keywords ?? [])].map(({ name }) => name));
  const surplus = anyKeyword ? [] : Object.keys(values).filter(name => !names.has(name));
  if (surplus.length > 0) leftOut?.(surplus);
  const known = Object.entries(values).filter(([name]) => !surplus.includes(name));
  const first = rest ? positional.map(({ name }) => name).filter(name => name in values) : [];
  return {
    args: [...first.map(name => values[name]), ...before],
    kwargs: Object.fromEntries(known.filter(([name]) => !first.includes(name))),
  };
};
