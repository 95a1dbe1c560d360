import { splitFunctionName } from '../data/function-name.ts';
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
  for (const [id, body] of high)
    if (!isOwnKey(id)) problems.push(...verifyId(id, body, high, requisites));
  return problems;
};

/** What each ID's latest requisite statement names, and in which state it stands: Salt's check for pairs. */
type Requisites = Map<DataKey, Statement>;
type Statement = { readonly state: string; readonly named: Named };
/** What a statement names: mostly one thing, then no map is needed. */
type Named = { value: Data; key: string; readonly more: Map<Data, string> | undefined };

const nameAdded = (named: Named, value: Data, key: string): void => {
  named.value = value;
  named.key = key;
  named.more?.set(value, key);
};

const isNamed = (named: Named, value: Data, key: string): boolean =>
  named.more ? named.more.get(value) === key : named.value === value && named.key === key;

const verifyId = (id: DataKey, body: Data, high: High, requisites: Requisites): Problem[] => {
  const problems: Problem[] = [];
  const at = (...path: unknown[]) => placeOf([high, body, ...path.slice(0, -1)], path.at(-1));
  if (typeof id !== 'string') {
    const message =
      `ID '${pyStr(id)}' in SLS '${pyStr(slsOf(body))}' is not formed as a string, ` +
      `but is a ${pyType(id)}. It may need to be quoted.`;
    problems.push(problem(message, at()));
  }
  if (!isDict(body)) {
    const message = `The type ${pyStr(id)} in ${pyStr(body)} is not formatted as a dictionary`;
    return [...problems, problem(message, at())];
  }
  const sls = pyStr(slsOf(body));
  for (const [key, args] of body) {
    if (isOwnKey(key)) continue;
    const state = pyStr(key);
    if (args === null) {
      const message =
        `ID '${pyStr(id)}' in SLS '${sls}' contains a short declaration (${state}) with a ` +
        'trailing colon. When not passing any arguments to a state, the colon must be omitted.';
      problems.push(problem(message, at(key), `Write "${state}: []" or drop the colon.`));
    } else if (!Array.isArray(args)) {
      const message = `State '${pyStr(id)}' in SLS '${sls}' is not formed as a list`;
      problems.push(problem(message, at(key), 'Each argument starts with "- ".'));
    } else problems.push(...verifyState({ id, body, state, args, sls, requisites }));
  }
  return problems;
};

type StateToVerify = {
  readonly id: DataKey;
  readonly body: Dict;
  readonly state: string;
  readonly args: readonly Data[];
  readonly sls: string;
  readonly requisites: Requisites;
};

const verifyState = (one: StateToVerify): Problem[] => {
  const { id, body, state, args, sls } = one;
  const problems: Problem[] = [];
  const functions = state.includes('.') ? [splitFunctionName(state)[1] ?? ''] : [];
  for (const arg of args) {
    if (typeof arg === 'string') {
      functions.push(arg);
      if (arg.trim().includes(' ')) problems.push(whitespace(one, arg));
    } else if (isDict(arg) && arg.size > 0) problems.push(...verifyArgument(one, arg));
  }
  const name = pyStr(id);
  if (functions.length === 0 && state !== 'require' && state !== 'watch') {
    const message = `No function declared in state '${name}' in SLS '${sls}'`;
    problems.push(problem(message, placeOf([body], state), `Write "${state}.<function>:".`));
  }
  if (functions.length > 1) {
    const message =
      `Too many functions declared in state '${name}' in SLS '${sls}'. ` +
      `Please choose one of the following: ${functions.join(', ')}`;
    problems.push(problem(message, placeOf([body], state)));
  }
  return problems;
};

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

const verifyArgument = (one: StateToVerify, arg: Dict): Problem[] => {
  const { id, body, sls } = one;
  const key = firstKey(arg);
  const value = arg.get(key ?? null) ?? null;
  if (key !== 'names' && !checkedRequisites.has(key)) return [];
  const at = (): Problem['at'] => placeOf([body, arg], key);
  const name = pyStr(id);
  if (key === 'names' && !Array.isArray(value)) {
    const message = `The 'names' argument in state '${name}' in SLS '${sls}' needs to be formed as a list`;
    return [problem(message, at())];
  }
  if (typeof key !== 'string' || key === 'names') return [];
  if (!Array.isArray(value)) {
    const message = `The ${key} statement in state '${name}' in SLS '${sls}' needs to be formed as a list`;
    return [problem(message, at(), `Write "- ${key}:" and below it "  - module: id".`)];
  }
  const problems = verifyRequisites(one, value, at);
  if (arg.size !== 1) {
    const message = `Multiple dictionaries defined in argument of state '${name}' in SLS '${sls}'`;
    problems.push(problem(message, at()));
  }
  return problems;
};

const verifyRequisites = (
  { id, state, sls, requisites }: StateToVerify,
  list: readonly Data[],
  at: () => Problem['at'],
): Problem[] => {
  const problems: Problem[] = [];
  const more = list.length > 1 ? new Map<Data, string>() : undefined;
  const own: Statement = { state, named: { value: null, key: '', more } };
  requisites.set(id, own);
  for (const item of list) {
    const [key, value] = typeof item === 'string' ? ['id', item] : firstEntry(item);
    if (key === undefined) {
      const message = `Requisite declaration ${pyStr(item)} in SLS ${sls} is not formed as a single key dictionary`;
      problems.push(problem(message, at()));
      continue;
    }
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
    nameAdded(own.named, value, key);
    const other = isKey(value) ? requisites.get(value) : undefined;
    if (other && isNamed(other.named, id, state) && other.state === key) {
      const message = `A recursive requisite was found, SLS "${sls}" ID "${pyStr(id)}" ID "${pyStr(value)}"`;
      problems.push(problem(message, at(), 'Two states cannot each wait for the other.'));
    }
  }
  return problems;
};

const firstEntry = (item: Data): [string, Data] | [undefined, null] => {
  const entry = isDict(item) ? [...item][0] : undefined;
  return entry ? [pyStr(entry[0]), entry[1]] : [undefined, null];
};

const isKey = (value: Data): value is DataKey => !Array.isArray(value) && !isDict(value);
