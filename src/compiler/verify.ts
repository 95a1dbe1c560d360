import { pyRepr, pyStr, pyType } from '../data/python/python-text.ts';
import type { Data, DataKey, Dict } from '../data/values/value.ts';
import { isDict } from '../data/values/value.ts';
import type { High, IdDeclaration, StateDeclaration } from './high.ts';
import { firstKey, isSaltKey } from './high.ts';
import { locationOf } from './location.ts';
import type { Problem } from './problem.ts';
import { problem } from './problem.ts';

/**
 * Checks the shape of high data. Returns every error, in Salt's words.
 * (salt.state.State.verify_high)
 *
 * @param visit - Called with each ID, to avoid a second loop over all of them.
 */
export const verifyHigh = (
  high: High,
  visit: (declaration: IdDeclaration) => void = () => undefined,
): Problem[] => {
  const problems: Problem[] = [];
  const all: Checking = { high, indexes: new Map(), problems };
  for (const declaration of high.ids.values()) {
    if (!isSaltKey(declaration.id)) verifyId(declaration, all);
    visit(declaration);
  }
  return problems;
};

/** Shared by the checks of all states; they add errors to `problems`. */
type Checking = {
  readonly high: High;
  /** Indexes of long statements: the names, with their kinds. */
  readonly indexes: Map<readonly Data[], ReadonlyMap<Data, string>>;
  readonly problems: Problem[];
};

const verifyId = (declaration: IdDeclaration, all: Checking): void => {
  const { id, written } = declaration;
  const { problems } = all;
  if (typeof id !== 'string') {
    const message =
      `ID '${pyStr(id)}' in SLS '${slsText(declaration)}' is not formed as a string, ` +
      `but is a ${pyType(id)}. It may need to be quoted.`;
    problems.push(problem(message, locationOf([declaration])));
  }
  if (declaration.first === undefined) {
    const message = `The type ${pyStr(id)} in ${pyStr(written)} is not formatted as a dictionary`;
    problems.push(problem(message, undefined));
    return;
  }
  for (let state = declaration.first; state; state = state.next) {
    const { module, args } = state;
    if (isSaltKey(module)) continue;
    if (args === null) {
      const message =
        `ID '${pyStr(id)}' in SLS '${slsText(declaration)}' contains a short declaration (${pyStr(module)}) with a ` +
        'trailing colon. When not passing any arguments to a state, the colon must be omitted.';
      const at = locationOf([declaration], module);
      problems.push(problem(message, at, `Write "${pyStr(module)}: []" or drop the colon.`));
    } else if (!Array.isArray(args)) {
      const message = `State '${pyStr(id)}' in SLS '${slsText(declaration)}' is not formed as a list`;
      const at = locationOf([declaration], module);
      problems.push(problem(message, at, 'Each argument starts with "- ".'));
    } else verifyState({ declaration, state, module: pyStr(module), args }, all);
  }
};

const slsText = ({ sls }: IdDeclaration): string => pyStr(sls);

type StateToVerify = {
  readonly declaration: IdDeclaration;
  readonly state: StateDeclaration;
  readonly module: string;
  readonly args: readonly Data[];
};

const verifyState = (one: StateToVerify, all: Checking): void => {
  const { fun } = one.state;
  let functions = 0;
  for (const arg of one.args) {
    if (typeof arg === 'string') {
      functions += 1;
      verifyFunction(one, arg, all);
    } else if (isDict(arg) && arg.size > 0) verifyArgument(one, arg, all);
  }
  if (fun !== undefined) {
    functions += 1;
    verifyFunction(one, fun, all);
  }
  if (functions !== 1) wrongFunctions(one, functions, all);
};

const verifyFunction = (one: StateToVerify, fun: string, { problems }: Checking): void => {
  if (!fun.includes(' ') || !fun.trim().includes(' ')) return;
  const { declaration, module } = one;
  const message =
    `The function "${fun}" in state "${pyStr(declaration.id)}" in SLS "${slsText(declaration)}" has whitespace, a function ` +
    'with whitespace is not supported, perhaps this is an argument that is missing a ":"';
  problems.push(problem(message, locationOf([declaration], module)));
};

const wrongFunctions = (one: StateToVerify, count: number, { problems }: Checking): void => {
  const { declaration, module, state } = one;
  const where = `in state '${pyStr(declaration.id)}' in SLS '${slsText(declaration)}'`;
  const at = locationOf([declaration], module);
  if (count > 1) {
    const functions = state.complete().filter(arg => typeof arg === 'string');
    const message = `Too many functions declared ${where}. Please choose one of the following: ${functions.join(', ')}`;
    problems.push(problem(message, at));
    return;
  }
  // A dot left in the name is that of a nested module (`my_cloud.my_resource`) or of its function.
  if (module.includes('.') || module === 'require' || module === 'watch') return;
  const message = `No function declared ${where}`;
  problems.push(problem(message, at, `Write "${module}.<function>:".`));
};

const checkedRequisites: ReadonlySet<unknown> = new Set([
  'require',
  'watch',
  'prereq',
  'onchanges',
]);

const verifyArgument = (one: StateToVerify, arg: Dict, all: Checking): void => {
  const key = firstKey(arg);
  if (key !== 'names' && !checkedRequisites.has(key)) return;
  const { declaration } = one;
  const value = arg.get(key ?? null) ?? null;
  if (!Array.isArray(value)) {
    const where = `in state '${pyStr(declaration.id)}' in SLS '${slsText(declaration)}'`;
    const message =
      key === 'names'
        ? `The 'names' argument ${where} needs to be formed as a list`
        : `The ${key} statement ${where} needs to be formed as a list`;
    const hint = `Write "- ${key}:" and below it "  - module: id".`;
    report(one, arg, all, message, key === 'names' ? undefined : hint);
    return;
  }
  if (key === 'names') return;
  verifyRequisites(one, arg, value, all);
  if (arg.size !== 1) {
    const message = `Multiple dictionaries defined in argument of state '${pyStr(declaration.id)}' in SLS '${slsText(declaration)}'`;
    report(one, arg, all, message);
  }
};

/** Reports an error in an argument. */
const report = (
  { declaration }: StateToVerify,
  arg: Dict,
  { problems }: Checking,
  message: string,
  hint?: string,
): void => {
  problems.push(problem(message, locationOf([declaration, arg], firstKey(arg)), hint));
};

const verifyRequisites = (
  one: StateToVerify,
  arg: Dict,
  list: readonly Data[],
  all: Checking,
): void => {
  const { declaration, module } = one;
  const { id } = declaration;
  declaration.checked = list;
  for (const item of list) {
    if (typeof item !== 'string' && !(isDict(item) && item.size > 0)) {
      const message = `Requisite declaration ${pyStr(item)} in SLS ${slsText(declaration)} is not formed as a single key dictionary`;
      report(one, arg, all, message);
      continue;
    }
    const key = requisiteKey(item);
    const value = requisiteValue(item);
    if (key.includes('.')) {
      const message =
        `Invalid requisite type '${key}' in state '${pyStr(id)}', in SLS '${slsText(declaration)}'. Requisite types ` +
        `must not contain dots, did you mean '${key.slice(0, key.indexOf('.'))}'?`;
      report(one, arg, all, message);
    }
    if (Array.isArray(value) || isDict(value)) {
      const message = `Illegal requisite "${pyRepr(value)}", please check your syntax.\n`;
      report(one, arg, all, message);
    } else if (value === id ? key === module : namesBack(all, value, key, id, module)) {
      const message = `A recursive requisite was found, SLS "${slsText(declaration)}" ID "${pyStr(id)}" ID "${pyStr(value)}"`;
      report(one, arg, all, message, 'Two states cannot each wait for the other.');
    }
  }
};

/** Returns the key of a requisite: a plain string names an ID. */
const requisiteKey = (item: string | Dict): string =>
  typeof item === 'string' ? 'id' : pyStr(firstKey(item) ?? null);

const requisiteValue = (item: string | Dict): Data =>
  typeof item === 'string' ? item : (item.values().next().value ?? null);

/** Whether the latest statement of `other`, in its state `key`, names this state of `id`. */
const namesBack = (
  { high, indexes }: Checking,
  other: DataKey,
  key: string,
  id: DataKey,
  state: string,
): boolean => {
  const declaration = high.ids.get(other);
  const list = declaration?.checked;
  if (!declaration || !list) return false;
  const named = list.length > longList ? indexOf(indexes, list).get(id) : keyOfLast(list, id);
  return named === state && stateOf(declaration, list) === key;
};

/** Longer lists are indexed: each of ten thousand states may search for each of the items. */
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

/** Returns the state to which a list of arguments belongs. */
const stateOf = (declaration: IdDeclaration, list: readonly Data[]): string | undefined => {
  const holder = declaration
    .states()
    .find(
      ({ args }) =>
        Array.isArray(args) &&
        args.some(arg => isDict(arg) && arg.get(firstKey(arg) ?? null) === list),
    );
  return holder && pyStr(holder.module);
};
