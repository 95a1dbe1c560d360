import type { Data, DataKey, Dict } from '../data/value.ts';
import { isDict } from '../data/value.ts';
import { pyRepr, pyStr, pyType } from '../targeting/python-text.ts';
import type { High } from './high.ts';
import { firstKey, isOwnKey, placeOf, problem, slsOf } from './high.ts';
import type { Problem } from './problem.ts';

/** Checks the shape of high data: every fault, in Salt's words. (salt.state.State.verify_high) */
export const verifyHigh = (high: Data): Problem[] => {
  if (!isDict(high)) return [problem('High data is not a dictionary and is invalid', undefined)];
  const requisites: Requisites = new Map();
  const problems: Problem[] = [];
  const all: Checking = { high, requisites, problems };
  for (const [id, body] of high) if (!isOwnKey(id)) verifyId(id, body, all);
  return problems;
};

/** What each ID's latest requisite statement names, and in which state it stands: Salt's check for pairs. */
type Requisites = Map<DataKey, Statement>;
/** A statement mostly names one thing: then no map is needed. */
type Statement = {
  readonly state: string;
  value: Data;
  key: string;
  readonly more: Map<Data, string> | undefined;
};

const nameAdded = (statement: Statement, value: Data, key: string): void => {
  statement.value = value;
  statement.key = key;
  statement.more?.set(value, key);
};

const isNamed = ({ more, value, key }: Statement, name: Data, state: string): boolean =>
  more ? more.get(name) === state : value === name && key === state;

/** What the checks of all states share; they put what they find into `problems`. */
type Checking = {
  readonly high: High;
  readonly requisites: Requisites;
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
  const { id, body, sls } = one;
  const { problems } = all;
  const value = arg.get(key ?? null) ?? null;
  const at = (): Problem['at'] => placeOf([body, arg], key);
  if (key === 'names' && !Array.isArray(value)) {
    const message = `The 'names' argument in state '${pyStr(id)}' in SLS '${sls}' needs to be formed as a list`;
    problems.push(problem(message, at()));
    return;
  }
  if (typeof key !== 'string' || key === 'names') return;
  if (!Array.isArray(value)) {
    const message = `The ${key} statement in state '${pyStr(id)}' in SLS '${sls}' needs to be formed as a list`;
    problems.push(problem(message, at(), `Write "- ${key}:" and below it "  - module: id".`));
    return;
  }
  verifyRequisites(one, value, at, all);
  if (arg.size !== 1) {
    const message = `Multiple dictionaries defined in argument of state '${pyStr(id)}' in SLS '${sls}'`;
    problems.push(problem(message, at()));
  }
};

const verifyRequisites = (
  { id, state, sls }: StateToVerify,
  list: readonly Data[],
  at: () => Problem['at'],
  { requisites, problems }: Checking,
): void => {
  const more = list.length > 1 ? new Map<Data, string>() : undefined;
  const own: Statement = { state, value: null, key: '', more };
  requisites.set(id, own);
  for (const item of list) {
    const entry = isDict(item) ? firstOf(item) : undefined;
    if (typeof item !== 'string' && !entry) {
      const message = `Requisite declaration ${pyStr(item)} in SLS ${sls} is not formed as a single key dictionary`;
      problems.push(problem(message, at()));
      continue;
    }
    const key = entry ? pyStr(entry[0]) : 'id';
    const value = entry ? entry[1] : item;
    if (key.includes('.')) {
      const message =
        `Invalid requisite type '${key}' in state '${pyStr(id)}', in SLS '${sls}'. Requisite types ` +
        `must not contain dots, did you mean '${key.slice(0, key.indexOf('.'))}'?`;
      problems.push(problem(message, at()));
    }
    if (value !== null && typeof value === 'object' && (Array.isArray(value) || isDict(value))) {
      const message = `Illegal requisite "${pyRepr(value)}", please check your syntax.\n`;
      problems.push(problem(message, at()));
      continue;
    }
    nameAdded(own, value, key);
    const other = isKey(value) ? requisites.get(value) : undefined;
    if (other && other.state === key && isNamed(other, id, state)) {
      const message = `A recursive requisite was found, SLS "${sls}" ID "${pyStr(id)}" ID "${pyStr(value)}"`;
      problems.push(problem(message, at(), 'Two states cannot each wait for the other.'));
    }
  }
};

const firstOf = (dict: Dict): [DataKey, Data] | undefined => dict.entries().next().value;

const isKey = (value: Data): value is DataKey => !Array.isArray(value) && !isDict(value);
