import { bindArguments } from '../data/signatures/bind.ts';
import type { Data, Dict } from '../data/values/value.ts';
import { TsaltError } from '../protocol/error.ts';
import type { FunctionMeta, FunctionSignature, ModuleMeta, Param } from '../protocol/meta.ts';
import { type Plain, setOwn } from '../protocol/plain.ts';
import { refuseUnknownKeywords } from './call-keywords.ts';
import type { WrapperContext } from './context.ts';
import { type Outcome, outcomeOf } from './outcome.ts';

/** Bound arguments by name. Missing ones have their default. */
export type WrapperArguments = ReadonlyMap<string, Data>;

/** The arguments of one call. */
type BoundArguments = {
  readonly bound: WrapperArguments;
  readonly rest: readonly Data[];
  readonly extra: Dict;
};

/**
 * One function of the control node: its parameters in Salt's order, its documentation, its code.
 */
export type WrapperFunction = {
  readonly doc: string;
  readonly params: readonly WrapperParam[];
  /** Accepts further positional arguments as `*args`. */
  readonly rest?: boolean;
  /** Accepts any further keyword argument. */
  readonly anyKeyword?: boolean;
  /** Accepts these further keyword arguments; Salt has `**kwargs` here and reads no others. */
  readonly keywords?: readonly string[];
  /** It has effects outside of the run, so it waits until the host has answered. */
  readonly changes?: boolean;
  /** Plain data is an outcome with the exit code 0. */
  readonly work: (call: WrapperCall) => Promise<Data | Outcome> | Data | Outcome;
};

/** A required parameter by name, or one with its default. */
export type WrapperParam = string | readonly [name: string, fallback: Data];

/** One call: its context and its bound arguments. */
export type WrapperCall = {
  readonly ctx: WrapperContext;
  readonly get: (name: string) => Data;
  readonly text: (name: string) => string;
  readonly flag: (name: string) => boolean;
  /** Further positional arguments, for a function with `rest`. */
  readonly rest: readonly Data[];
  /** Further keywords, for a function with `anyKeyword` or `keywords`. */
  readonly extra: Dict;
  /** Further keywords and all parameters that are not null, by name. */
  readonly named: () => Dict;
};

export type WrapperModule = {
  readonly doc: string;
  readonly functions: Readonly<Record<string, WrapperFunction>>;
};

/**
 * Binds arguments as Python does: positional ones fill the parameters in order, keywords by name.
 * Throws `TsaltError('arguments')` for missing, unknown or repeated arguments.
 */
export const bindWrapper = (
  name: string,
  fun: WrapperFunction,
  args: readonly Data[],
  kwargs: Dict,
): BoundArguments => {
  const given: Record<string, unknown> = {};
  for (const [key, value] of kwargs) setOwn(given, String(key), value);
  const bound = bindArguments(name, signatureOf(fun), args, given);
  if (!bound.ok) throw new TsaltError('arguments', `${bound.message}.`);
  const count = fun.params.length;
  const values = new Map(
    fun.params.map((param, at) => [
      paramName(param),
      bound.values[at] === undefined ? defaultOf(param) : (bound.values[at] as Data),
    ]),
  );
  const names = new Set(values.keys());
  const extra: Dict = new Map([...kwargs].filter(([key]) => !names.has(String(key))));
  if (fun.keywords) refuseUnknownKeywords(name, [...names, ...fun.keywords], extra);
  return { bound: values, rest: args.slice(count), extra };
};

const paramName = (param: WrapperParam): string => (typeof param === 'string' ? param : param[0]);

const defaultOf = (param: WrapperParam): Data => (typeof param === 'string' ? null : param[1]);

/** Calls a function of the control node. */
export const callWrapper = async (
  name: string,
  fun: WrapperFunction,
  ctx: WrapperContext,
  args: readonly Data[],
  kwargs: Dict,
): Promise<Outcome> => callBound(fun, ctx, bindWrapper(name, fun, args, kwargs));

/** Calls a function of the control node with arguments from `bindWrapper`. */
export const callBound = async (
  fun: WrapperFunction,
  ctx: WrapperContext,
  { bound, rest, extra }: BoundArguments,
): Promise<Outcome> => {
  const get = (param: string): Data => bound.get(param) ?? null;
  return outcomeOf(
    await fun.work({
      ctx,
      get,
      text: param => String(get(param) ?? ''),
      flag: param => isTrueArgument(get(param)),
      rest,
      extra,
      named: () => new Map([...extra, ...[...bound].filter(([, value]) => value !== null)]),
    }),
  );
};

/** Salt's truth of a YAML-typed argument (salt.utils.data.is_true). */
export const isTrueArgument = (value: Data): boolean => {
  if (typeof value === 'string') return ['true', 'yes', 'on', '1'].includes(value.toLowerCase());
  if (value === null || typeof value !== 'object') return Boolean(value);
  if (Array.isArray(value)) return value.length > 0;
  return value instanceof Map ? value.size > 0 : value.value !== 0;
};

/** Returns the metadata of a module of the control node, for documentation and argument checks. */
export const wrapperMeta = (name: string, module: WrapperModule): ModuleMeta => ({
  kind: 'exec',
  file: name,
  path: `wrapper/${name}`,
  builtin: true,
  doc: module.doc,
  functions: Object.entries(module.functions).map(([fun, spec]) => functionMeta(fun, spec)),
});

const functionMeta = (name: string, fun: WrapperFunction): FunctionMeta => ({
  name,
  exportName: name,
  line: 0,
  doc: fun.doc,
  signature: signatureOf(fun),
});

/** Returns the signature of a function of the control node. */
export const signatureOf = ({
  params,
  rest,
  anyKeyword,
  keywords,
}: WrapperFunction): FunctionSignature => ({
  positional: params.map(paramMeta),
  ...(rest ? { rest: { name: 'args' } } : {}),
  ...(anyKeyword || keywords ? { keywords: [], anyKeyword: true } : {}),
});

const paramMeta = (param: WrapperParam): Param =>
  typeof param === 'string'
    ? { name: param }
    : { name: param[0], optional: true, default: plainDefault(param[1]) };

const plainDefault = (value: Data): Plain =>
  value === null || typeof value !== 'object'
    ? typeof value === 'bigint'
      ? String(value)
      : value
    : null;

/** Makes a function that always fails, with a message about the alternative. */
export const refused = (
  name: string,
  doc: string,
  why: string,
  hint?: string,
): WrapperFunction => ({
  doc,
  params: [],
  rest: true,
  anyKeyword: true,
  work: () => {
    throw new TsaltError('not-supported', `${name} is not supported: ${why}.`, { hint });
  },
});
