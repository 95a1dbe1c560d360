import type { FunctionSignature, Param } from '../../protocol/meta.ts';
import { setOwn } from '../../protocol/plain.ts';
import { closestMatch } from '../closest-match.ts';
import { checkType } from './check-type.ts';

/** The errors of a call, by argument. */
type BindProblems = {
  readonly missing: readonly string[];
  readonly unknown: readonly string[];
  readonly twice: readonly string[];
  /** Positional arguments that have no parameter. */
  readonly surplus: number;
  readonly wrong: readonly { readonly name: string; readonly message: string }[];
};

export type BindResult =
  /** `values` are the arguments of the call: positional, options, rest. */
  | { readonly ok: true; readonly values: readonly unknown[] }
  /** `message` is one sentence for the user, with the closest matches. */
  | { readonly ok: false; readonly message: string; readonly problems: BindProblems };

type Keywords = Readonly<Record<string, unknown>>;

/**
 * Binds arguments to a function's parameters as Python does: positional ones in order (they
 * continue into the keywords, as in `cmd.run 'id' /tmp`), keywords by name, defaults for the rest.
 * Declared types are checked and converted by `checkType`. Pure: the command line calls it before
 * any connection is made, the host before every call.
 * @param fun the function's name, for messages
 */
export const bindArguments = (
  fun: string,
  signature: FunctionSignature,
  args: readonly unknown[],
  kwargs: Keywords,
): BindResult => {
  const { slots, names } = layoutOf(signature);
  const given = new Map<string, unknown>();
  const wrong: { name: string; message: string }[] = [];
  const room = signature.rest ? signature.positional.length : slots.length;
  args.slice(0, room).forEach((value, at) => given.set(slots[at]?.name ?? '', value));
  const twice = Object.keys(kwargs).filter(name => given.has(name));
  const others: [string, unknown][] = [];
  const rest = args.slice(room);
  for (const [name, value] of Object.entries(kwargs)) {
    if (names.has(name)) given.set(name, value);
    else if (isRest(signature, name) && Array.isArray(value)) rest.push(...value);
    else others.push([name, value]);
  }
  const values = new Map<string, unknown>();
  for (const param of slots)
    if (given.has(param.name)) values.set(param.name, accept(param, given.get(param.name), wrong));
  const problems: BindProblems = {
    missing: slots
      .filter(param => !param.optional && !given.has(param.name))
      .map(({ name }) => name),
    unknown: signature.anyKeyword ? [] : others.map(([name]) => name),
    twice,
    surplus: signature.rest ? 0 : Math.max(0, args.length - room),
    wrong,
  };
  const message = explain(fun, signature, args.length, problems);
  if (message !== undefined) return { ok: false, message, problems };
  return { ok: true, values: lay(signature, values, others, rest) };
};

type Layout = { readonly slots: readonly Param[]; readonly names: ReadonlySet<string> };

/** By signature: most functions are called more than once. */
const layouts = new WeakMap<FunctionSignature, Layout>();

const layoutOf = (signature: FunctionSignature): Layout => {
  const known = layouts.get(signature);
  if (known) return known;
  const slots = [...signature.positional, ...(signature.keywords ?? [])];
  const layout = { slots, names: new Set(slots.map(({ name }) => name)) };
  layouts.set(signature, layout);
  return layout;
};

/** `args: [a, b]` beside `path: /etc/motd`: what the others have no name for, as a list. */
const isRest = ({ rest, anyKeyword }: FunctionSignature, name: string): boolean =>
  rest?.name === name && anyKeyword !== true;

const accept = (
  param: Param,
  value: unknown,
  wrong: { name: string; message: string }[],
): unknown => {
  if (param.type === undefined || value === undefined) return value;
  const checked = checkType(param.type, value);
  if (checked.ok) return checked.value;
  // `key:` without a value means "not given" to a YAML author.
  if (value === null && param.optional) return undefined;
  // An empty list or mapping is equally missing for Salt's functions, which test for emptiness.
  if (isEmpty(value) && param.optional && !param.default) return undefined;
  wrong.push({
    name: param.name,
    message: `'${param.name}' must be ${checked.wanted}, not ${show(value)}`,
  });
  return value;
};

/**
 * Returns the arguments whose values do not have the declared types.
 *
 * @param given arguments by name; undeclared ones are ignored
 */
export const wrongTypes = (
  signature: FunctionSignature,
  given: Keywords,
): BindProblems['wrong'] => {
  const wrong: { name: string; message: string }[] = [];
  const params = paramsOf(signature);
  for (const name of Object.keys(given)) {
    const param = params.get(name);
    if (param) accept(param, given[name], wrong);
  }
  if (wrong.length < 2) return wrong;
  const order = [...params.keys()];
  return wrong.sort((one, other) => order.indexOf(one.name) - order.indexOf(other.name));
};

const known = new WeakMap<FunctionSignature, ReadonlyMap<string, Param>>();

/** The parameters of a function by name, in their order. */
export const paramsOf = (signature: FunctionSignature): ReadonlyMap<string, Param> => {
  const params =
    known.get(signature) ??
    new Map(
      [...signature.positional, ...(signature.keywords ?? [])].map(param => [param.name, param]),
    );
  known.set(signature, params);
  return params;
};

const isEmpty = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.keys(value).length === 0;

const show = (value: unknown): string => {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
};

const lay = (
  signature: FunctionSignature,
  values: ReadonlyMap<string, unknown>,
  others: readonly (readonly [string, unknown])[],
  rest: readonly unknown[],
): unknown[] => {
  const positional = signature.positional.map(({ name }) => values.get(name));
  if (!signature.keywords && !signature.anyKeyword) return [...positional, ...rest];
  const options: Record<string, unknown> = {};
  for (const { name } of signature.keywords ?? []) {
    const value = values.get(name);
    if (value !== undefined) setOwn(options, name, value);
  }
  for (const [name, value] of others) setOwn(options, name, value);
  return [...positional, options, ...rest];
};

const explain = (
  fun: string,
  signature: FunctionSignature,
  count: number,
  problems: BindProblems,
): string | undefined => {
  const { missing, unknown, twice, surplus, wrong } = problems;
  if (surplus === 0 && [missing, unknown, twice, wrong].every(list => list.length === 0))
    return undefined;
  const parts = [
    ...(unknown.length > 0 ? [invalidKeywords(fun, unknown) + didYouMean(signature, unknown)] : []),
    ...(twice.length > 0 ? [`'${fun}' got ${quoted(twice)} twice`] : []),
    ...(surplus > 0
      ? [`'${fun}' takes at most ${count - surplus} arguments, ${count} were given`]
      : []),
    ...(missing.length > 0
      ? [`'${fun}' is missing the argument${missing.length > 1 ? 's' : ''} ${quoted(missing)}`]
      : []),
    ...wrong.map(({ message }) => `'${fun}': ${message}`),
  ];
  return parts.join('; ');
};

/** Salt's sentence (salt.state.State.verify_data and salt.utils.args.format_call). */
export const invalidKeywords = (fun: string, names: readonly string[]): string =>
  names.length === 1
    ? `${quoted(names)} is an invalid keyword argument for '${fun}'`
    : `${quoted(names)} are invalid keyword arguments for '${fun}'`;

const quoted = (names: readonly string[]): string => {
  const all = names.map(name => `'${name}'`);
  const last = all.pop() ?? '';
  return all.length > 0 ? `${all.join(', ')} and ${last}` : last;
};

/** Returns ` (did you mean 'x'?)` for unknown keywords, or '' if no parameter is similar. */
export const didYouMean = (signature: FunctionSignature, unknown: readonly string[]): string => {
  const known = [...signature.positional, ...(signature.keywords ?? [])].map(({ name }) => name);
  const found = unknown.flatMap(name => closestMatch(name, known) ?? []);
  return found.length > 0 ? ` (did you mean ${quoted([...new Set(found)])}?)` : '';
};
