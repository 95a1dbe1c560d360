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
  const layout = layoutOf(signature);
  const { slots, places, placeOf, required } = layout;
  const room = signature.rest ? signature.positional.length : slots.length;
  const positional = Math.min(args.length, room);
  const given: unknown[] = new Array(slots.length).fill(notGiven);
  for (let at = 0; at < positional; at++) given[placeOf[at] as number] = args[at];
  const twice: string[] = [];
  const others: [string, unknown][] = [];
  const rest = args.length > room ? args.slice(room) : [];
  for (const name of Object.keys(kwargs)) {
    const value = kwargs[name];
    const place = places.get(name);
    if (place === undefined) {
      if (isRest(signature, name) && Array.isArray(value)) rest.push(...value);
      else others.push([name, value]);
      continue;
    }
    if (place < positional) twice.push(name);
    given[place] = value;
  }
  const wrong: { name: string; message: string }[] = [];
  const values: unknown[] = given.slice();
  for (let at = 0; at < slots.length; at++) {
    const place = placeOf[at] as number;
    const value = given[place];
    if (value !== notGiven) values[place] = accept(slots[at] as Param, value, wrong);
  }
  const surplus = signature.rest ? 0 : Math.max(0, args.length - room);
  const isUnknown = others.length > 0 && !signature.anyKeyword;
  let isMissing = false;
  for (const place of required) if (given[place] === notGiven) isMissing = true;
  if (isMissing || isUnknown || twice.length + surplus + wrong.length > 0) {
    const problems: BindProblems = {
      missing: required.filter(at => given[at] === notGiven).map(at => slots[at]?.name ?? ''),
      unknown: isUnknown ? others.map(([name]) => name) : [],
      twice,
      surplus,
      wrong,
    };
    return { ok: false, message: explain(fun, signature, args.length, problems), problems };
  }
  return { ok: true, values: lay(signature, layout, values, others, rest) };
};

const notGiven = Symbol('not given');

/** Where a function's parameters are. */
type Layout = {
  readonly slots: readonly Param[];
  readonly places: ReadonlyMap<string, number>;
  /** Two parameters of one name, one of them a keyword, have one place. */
  readonly placeOf: readonly number[];
  /** The places of the parameters that must be given. */
  readonly required: readonly number[];
};

/** By signature: most functions are called more than once. */
const layouts = new WeakMap<FunctionSignature, Layout>();

const layoutOf = (signature: FunctionSignature): Layout => {
  const known = layouts.get(signature);
  if (known) return known;
  const slots = [...signature.positional, ...(signature.keywords ?? [])];
  const places = new Map<string, number>();
  const placeOf: number[] = [];
  const required: number[] = [];
  for (const { name, optional } of slots) {
    const place = places.get(name) ?? placeOf.length;
    places.set(name, place);
    placeOf.push(place);
    if (!optional) required.push(place);
  }
  const layout = { slots, places, placeOf, required };
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
  { slots, placeOf }: Layout,
  given: readonly unknown[],
  others: readonly (readonly [string, unknown])[],
  rest: readonly unknown[],
): unknown[] => {
  const { length } = signature.positional;
  const values: unknown[] = [];
  for (let at = 0; at < length; at++) {
    const value = given[placeOf[at] as number];
    values.push(value === notGiven ? undefined : value);
  }
  if (signature.keywords || signature.anyKeyword) {
    const options: Record<string, unknown> = {};
    for (let at = length; at < slots.length; at++) {
      const value = given[placeOf[at] as number];
      if (value !== notGiven && value !== undefined)
        setOwn(options, (slots[at] as Param).name, value);
    }
    for (const [name, value] of others) setOwn(options, name, value);
    values.push(options);
  }
  if (rest.length > 0) values.push(...rest);
  return values;
};

const explain = (
  fun: string,
  signature: FunctionSignature,
  count: number,
  { missing, unknown, twice, surplus, wrong }: BindProblems,
): string => {
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
