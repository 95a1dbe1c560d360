import type { Data, Dict } from '../data/value.ts';
import { toDict } from '../data/value.ts';
import { TsaltError } from '../protocol/error.ts';
import type { FunctionMeta, ModuleMeta, Param } from '../protocol/meta.ts';
import type { Plain } from '../protocol/plain.ts';
import type { WrapperContext } from './context.ts';

/** Bound arguments by name. An argument that was not given has its default. */
export type Bound = ReadonlyMap<string, Data>;

/** One function of the control node: its parameters in Salt's order, its doc, its work. */
export type WrapperFunction = {
  readonly doc: string;
  readonly params: readonly WrapperParam[];
  /** Takes any further positional argument as `*args`. */
  readonly rest?: boolean;
  /** Takes any further keyword argument. */
  readonly anyKeyword?: boolean;
  readonly work: (call: WrapperCall) => Promise<Data> | Data;
};

/** A required parameter by name, or one with its default. */
export type WrapperParam = string | readonly [name: string, fallback: Data];

export type WrapperCall = {
  readonly ctx: WrapperContext;
  readonly get: (name: string) => Data;
  readonly text: (name: string) => string;
  readonly flag: (name: string) => boolean;
  /** Further positional arguments of a function with `rest`. */
  readonly rest: readonly Data[];
  /** Further keywords of a function with `anyKeyword`. */
  readonly extra: Dict;
};

export type WrapperModule = {
  readonly doc: string;
  readonly functions: Readonly<Record<string, WrapperFunction>>;
};

/**
 * Binds arguments as Python does: positional ones fill the parameters in order, keywords by
 * name. Throws `TsaltError('arguments')` naming what is missing, unknown or given twice.
 */
export const bindWrapper = (
  name: string,
  fun: WrapperFunction,
  args: readonly Data[],
  kwargs: Dict,
): { bound: Bound; rest: Data[]; extra: Dict } => {
  const names = fun.params.map(paramName);
  if (args.length > names.length && !fun.rest)
    throw wrong(`${name} takes at most ${names.length} arguments, ${args.length} were given`);
  const bound = new Map<string, Data>();
  names.forEach((param, index) => {
    const value = args[index];
    if (value !== undefined) bound.set(param, value);
  });
  const extra: Dict = new Map();
  for (const [key, value] of kwargs) {
    const param = String(key);
    if (param.startsWith('__pub_')) continue;
    if (!names.includes(param)) {
      if (!fun.anyKeyword) throw wrong(`${name} has no argument "${param}"`, names);
      extra.set(param, value);
    } else if (bound.has(param)) throw wrong(`${name} got the argument "${param}" twice`);
    else bound.set(param, value);
  }
  for (const param of fun.params) {
    if (bound.has(paramName(param))) continue;
    if (typeof param === 'string') throw wrong(`${name} needs the argument "${param}"`, names);
    bound.set(param[0], param[1]);
  }
  return { bound, rest: args.slice(names.length), extra };
};

const paramName = (param: WrapperParam): string => (typeof param === 'string' ? param : param[0]);

const wrong = (message: string, names: readonly string[] = []): TsaltError =>
  new TsaltError('arguments', `${message}.`, {
    hint: names.length > 0 ? `Its arguments are: ${names.join(', ')}.` : undefined,
  });

/** Calls a function of the control node. */
export const callWrapper = async (
  name: string,
  fun: WrapperFunction,
  ctx: WrapperContext,
  args: readonly Data[],
  kwargs: Dict,
): Promise<Data> => {
  const { bound, rest, extra } = bindWrapper(name, fun, args, kwargs);
  const get = (param: string): Data => bound.get(param) ?? null;
  return fun.work({
    ctx,
    get,
    text: param => String(get(param) ?? ''),
    flag: param => isTrue(get(param)),
    rest,
    extra,
  });
};

/** Salt's truth of a YAML-typed argument (salt.utils.data.is_true). */
export const isTrue = (value: Data): boolean => {
  if (typeof value === 'string') return ['true', 'yes', 'on', '1'].includes(value.toLowerCase());
  if (value === null || typeof value !== 'object') return Boolean(value);
  if (Array.isArray(value)) return value.length > 0;
  return value instanceof Map ? value.size > 0 : value.value !== 0;
};

/** What documentation and argument checks know of a module of the control node. */
export const wrapperMeta = (name: string, module: WrapperModule): ModuleMeta => ({
  kind: 'exec',
  file: name,
  path: `wrapper/${name}`,
  builtin: true,
  doc: module.doc,
  functions: Object.entries(module.functions).map(([fun, spec]) => functionMeta(fun, spec)),
});

const functionMeta = (
  name: string,
  { params, doc, rest, anyKeyword }: WrapperFunction,
): FunctionMeta => ({
  name,
  exportName: name,
  line: 0,
  doc,
  signature: {
    positional: params.map(paramMeta),
    ...(rest ? { rest: { name: 'args' } } : {}),
    ...(anyKeyword ? { keywords: [], anyKeyword: true } : {}),
  },
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

/** Shorthand for a dictionary written in code. */
export const dict = (entries: Record<string, Plain>): Dict => toDict(entries);
