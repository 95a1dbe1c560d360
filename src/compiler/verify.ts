import { pyRepr, pyStr, pyType } from '../data/python-text.ts';
import type { Data, DataKey, Dict } from '../data/value.ts';
import { isDict } from '../data/value.ts';
import type { High } from './high.ts';
import { firstKey, isOwnKey, placeOf, problem, slsOf } from './high.ts';
import type { Problem } from './problem.ts';

/**
 * Checks the shape of high data: every fault, in Salt's words. (salt.state.State.verify_high)
 *
 * @param visit - Called with each ID: what reads all of them besides, does so while they are at hand.
 */
export const verifyHigh = (
  high: Data,
  visit: (id: DataKey, body: Data) => void = () => undefined,
): Problem[] => {
  if (!isDict(high)) return [problem('High data is not a dictionary and is invalid', undefined)];
  const problems: Problem[] = [];
  const all: Checking = { high, requisites: new Map(), indexes: new Map(), problems };
  for (const [id, body] of high) {
    if (!isOwnKey(id)) verifyId(id, body, all);
    visit(id, body);
  }
  return problems;
};

/** What the checks of all states share; they put what they find into `problems`. */
type Checking = {
  readonly high: High;
  /** What each ID's latest requisite statement names: Salt's check for pairs. */
  readonly requisites: Map<DataKey, readonly Data[]>;
  /** Of long statements: what is named, and as what. */
  readonly indexes: Map<readonly Data[], ReadonlyMap<Data, string>>;
  readonly problems: Problem[];
};

const verifyId = (id: DataKey, body: Data, all: Checking): void => {
  const { high, problems } = all;
  if (typeof id !== 'string') {
    const message =
      `ID '${pyStr(id)}' in SLS '${pyStr(slsOf(body))}' is not formed as a string, ` +
      `but is a ${pyType(id)}. It may need to be quoted.`;
    problems.push(problem(message, placeOf([high, body])));
  }
  if (!isDict(body)) {
    const message = `The type ${pyStr(id)} in ${pyStr(body)} is not formatted as a dictionary`;
    problems.push(problem(message, placeOf([high, body])));
    return;
  }
  for (const [key, args] of body) {
    if (isOwnKey(key)) continue;
    const state = pyStr(key);
    if (args === null) {
      const message =
        `ID '${pyStr(id)}' in SLS '${pyStr(slsOf(body))}' contains a short declaration (${state}) with a ` +
        'trailing colon. When not passing any arguments to a state, the colon must be omitted.';
      const at = placeOf([high, body], key);
      problems.push(problem(message, at, `Write "${state}: []" or drop the colon.`));
    } else if (!Array.isArray(args)) {
      const message = `State '${pyStr(id)}' in SLS '${pyStr(slsOf(body))}' is not formed as a list`;
      problems.push(
        problem(message, placeOf([high, body], key), 'Each argument starts with "- ".'),
      );
    } else verifyState({ id, body, state, args, sls: pyStr(slsOf(body)) }, all);
  }
};

type StateToVerify = {
  readonly id: DataKey;
  readonly body: Dict;
  readonly state: string;
  readonly args: readonly Data[];
  readonly sls: string;
};

const verifyState = (one: StateToVerify, all: Checking): void => {
  const { id, body, state, args, sls } = one;
  const { problems } = all;
  let functions = 0;
  for (const arg of args) {
    if (typeof arg === 'string') {
      functions += 1;
      if (arg.trim().includes(' ')) problems.push(whitespace(one, arg));
    } else if (isDict(arg) && arg.size > 0) verifyArgument(one, arg, all);
  }
  // A dot left in the name is that of a nested module (`my_cloud.my_resource`) or of its function.
  if (functions === 0 && state.includes('.')) functions = 1;
  if (functions === 0 && state !== 'require' && state !== 'watch') {
    const message = `No function declared in state '${pyStr(id)}' in SLS '${sls}'`;
    problems.push(problem(message, placeOf([body], state), `Write "${state}.<function>:".`));
  }
  if (functions > 1) {
    const message =
      `Too many functions declared in state '${pyStr(id)}' in SLS '${sls}'. ` +
      `Please choose one of the following: ${functionsOf(args).join(', ')}`;
    problems.push(problem(message, placeOf([body], state)));
  }
};

const functionsOf = (args: readonly Data[]): string[] =>
  args.filter(arg => typeof arg === 'string');

const whitespace = ({ id, body, state, sls }: StateToVerify, arg: string): Problem =>
  problem(
    `The function "${arg}" in state "${pyStr(id)}" in SLS "${sls}" has whitespace, a function ` +
      'with whitespace is not supported, perhaps this is an argument that is missing a ":"',
    placeOf([body], state),
  );

const checkedRequisites: ReadonlySet<unknown> = new Set([
  'require',
  'watch',
  'prereq',
  'onchanges',
]);

const verifyArgument = (one: StateToVerify, arg: Dict, all: Checking): void => {
  const key = firstKey(arg);
  if (key !== 'names' && !checkedRequisites.has(key)) return;
  const { id, sls } = one;
  const value = arg.get(key ?? null) ?? null;
  if (!Array.isArray(value)) {
    const message =
      key === 'names'
        ? `The 'names' argument in state '${pyStr(id)}' in SLS '${sls}' needs to be formed as a list`
        : `The ${key} statement in state '${pyStr(id)}' in SLS '${sls}' needs to be formed as a list`;
    const hint = `Write "- ${key}:" and below it "  - module: id".`;
    report(one, arg, all, message, key === 'names' ? undefined : hint);
    return;
  }
  if (key === 'names') return;
  verifyRequisites(one, arg, value, all);
  if (arg.size !== 1) {
    const message = `Multiple dictionaries defined in argument of state '${pyStr(id)}' in SLS '${sls}'`;
    report(one, arg, all, message);
  }
};

/** A fault of an argument. */
const report = (
  { body }: StateToVerify,
  arg: Dict,
  { problems }: Checking,
  message: string,
  hint?: string,
): void => {
  problems.push(problem(message, placeOf([body, arg], firstKey(arg)), hint));
};

const verifyRequisites = (
  one: StateToVerify,
  arg: Dict,
  list: readonly Data[],
  all: Checking,
): void => {
  const { id, state, sls } = one;
  all.requisites.set(id, list);
  for (const item of list) {
    if (typeof item !== 'string' && !(isDict(item) && item.size > 0)) {
      const message = `Requisite declaration ${pyStr(item)} in SLS ${sls} is not formed as a single key dictionary`;
      report(one, arg, all, message);
      continue;
    }
    const key = requisiteKey(item);
    const value = requisiteValue(item);
    if (key.includes('.')) {
      const message =
        `Invalid requisite type '${key}' in state '${pyStr(id)}', in SLS '${sls}'. Requisite types ` +
        `must not contain dots, did you mean '${key.slice(0, key.indexOf('.'))}'?`;
      report(one, arg, all, message);
    }
    if (Array.isArray(value) || isDict(value)) {
      const message = `Illegal requisite "${pyRepr(value)}", please check your syntax.\n`;
      report(one, arg, all, message);
    } else if (value === id ? key === state : namesBack(all, value, key, id, state)) {
      const message = `A recursive requisite was found, SLS "${sls}" ID "${pyStr(id)}" ID "${pyStr(value)}"`;
      report(one, arg, all, message, 'Two states cannot each wait for the other.');
    }
  }
};

/** A plain text names an ID. */
const requisiteKey = (item: string | Dict): string =>
  typeof item === 'string' ? 'id' : pyStr(firstKey(item) ?? null);

const requisiteValue = (item: string | Dict): Data =>
  typeof item === 'string' ? item : (item.values().next().value ?? null);

/** Does the latest statement of `other`, if it stands in its state `key`, name this state of `id`? */
const namesBack = (
  { high, requisites, indexes }: Checking,
  other: DataKey,
  key: string,
  id: DataKey,
  state: string,
): boolean => {
  const list = requisites.get(other);
  if (list === undefined) return false;
  const named = list.length > longList ? indexOf(indexes, list).get(id) : keyOfLast(list, id);
  return named === state && stateOf(high.get(other), list) === key;
};

/** Beyond this a list is indexed: each of ten thousand states may ask for each of its items. */
const longList = 8;

const keyOfLast = (list: readonly Data[], name: DataKey): string | undefined => {
  for (let at = list.length - 1; at >= 0; at -= 1) {
    const item = list[at];
    if ((typeof item === 'string' || isDict(item)) && requisiteValue(item) === name)
      return requisiteKey(item);
  }
  return undefined;
};

const indexOf = (
  indexes: Checking['indexes'],
  list: readonly Data[],
): ReadonlyMap<Data, string> => {
  const known = indexes.get(list);
  if (known) return known;
  const keys = new Map<Data, string>();
  for (const item of list)
    if (typeof item === 'string' || isDict(item))
      keys.set(requisiteValue(item), requisiteKey(item));
  indexes.set(list, keys);
  return keys;
};

/** The state whose argument this list is. */
const stateOf = (body: Data | undefined, list: readonly Data[]): string | undefined => {
  for (const [state, args] of isDict(body) ? body : [])
    if (
      Array.isArray(args) &&
      args.some(arg => isDict(arg) && arg.get(firstKey(arg) ?? null) === list)
    )
      return pyStr(state);
  return undefined;
};
