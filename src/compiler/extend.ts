import { fnmatch } from '../data/python/glob.ts';
import { pyStr } from '../data/python/python-text.ts';
import type { Data, DataKey, Dict } from '../data/values/value.ts';
import { isDict } from '../data/values/value.ts';
import type { High, IdDeclaration } from './high.ts';
import { firstKey, isSaltKey } from './high.ts';
import { isRequisiteKeyword } from './keywords.ts';
import { copyOf, locationOf } from './location.ts';
import type { StateIndex } from './lookup.ts';
import type { Problem } from './problem.ts';
import { problem } from './problem.ts';

/**
 * Applies `__extend__` to the states that it names, and removes it. Requisites are added, other
 * arguments replaced, and a function replaces the function. (salt.state.State.reconcile_extend)
 *
 * @param strict - The extended state must already have the module (requisites `_in`); otherwise an
 *   ID may gain a module.
 */
export const reconcileExtend = (high: High, lookup: StateIndex, strict: boolean): Problem[] => {
  const { extend = [] } = high;
  high.extend = undefined;
  const excluded = excludedSls(high);
  const problems: Problem[] = [];
  const context = { high, lookup, strict, excluded, grown: new Set<Data[]>(), problems };
  for (const extension of extend)
    for (const [name, body] of isDict(extension) ? extension : [])
      if (isDict(body)) extendOne(context, name, body);
  return problems;
};

type Extending = {
  readonly high: High;
  readonly lookup: StateIndex;
  readonly strict: boolean;
  readonly excluded: ReadonlySet<Data>;
  /**
   * Lists that were made here and may be changed in place; those from a template are copied first.
   */
  readonly grown: Set<Data[]>;
  readonly problems: Problem[];
};

const excludedSls = ({ exclude = [] }: High): ReadonlySet<Data> => {
  const names = exclude.flatMap(one =>
    typeof one === 'string' ? [one] : isDict(one) && one.get('sls') ? [one.get('sls') as Data] : [],
  );
  return new Set(names);
};

const extendOne = (context: Extending, name: DataKey, body: Dict): void => {
  const { high, lookup, strict, excluded, problems } = context;
  const state = firstState(body);
  if (typeof state !== 'string') {
    const message = `Extension of ID '${pyStr(name)}' in SLS '${pyStr(slsOf(body))}' names no state`;
    const hint = 'Below the ID stands the state it extends.';
    problems.push(problem(message, locationOf([body]), hint));
    return;
  }
  const found = high.ids.get(name)?.state(state)
    ? [{ id: name, state }]
    : lookup.find(name, state, strict);
  const target = found.length === 1 && found[0] ? high.ids.get(found[0].id) : undefined;
  if (target?.first === undefined) problems.push(missing(name, body, state));
  else if (!excluded.has(slsOf(body)))
    for (const [key, args] of body)
      if (!isSaltKey(key) && typeof key === 'string') extendState(context, target, key, args, body);
};

const slsOf = (extension: Dict): Data => extension.get('__sls__') ?? null;

const firstState = (body: Dict): DataKey | undefined => {
  for (const key of body.keys()) if (!isSaltKey(key)) return key;
  return undefined;
};

const missing = (name: DataKey, body: Dict, state: string): Problem => {
  const id = pyStr(name);
  const env = pyStr(body.get('__env__') ?? 'base');
  const sls = pyStr(body.get('__sls__') ?? 'base');
  const message =
    `Cannot extend ID '${id}' in '${env}:${sls}'. It is not part of the high state.\n` +
    'This is likely due to a missing include statement or an incorrectly typed ID.\n' +
    `Ensure that a state with an ID of '${id}' is available\n` +
    `in environment '${env}' and to SLS '${sls}'`;
  return problem(message, locationOf([body], state));
};

const extendState = (
  context: Extending,
  target: IdDeclaration,
  state: string,
  run: Data,
  extension: Dict,
): void => {
  const { lookup, problems } = context;
  const known = target.state(state);
  const args = itemsOf(run);
  if (known && !(Array.isArray(known.args) && args)) {
    const message = `State '${pyStr(target.id)}' in SLS '${pyStr(slsOf(extension))}' is not formed as a list`;
    problems.push(problem(message, locationOf([extension], state)));
    return;
  }
  if (!known) target.add(state, run);
  else
    for (const arg of args ?? [])
      extendArgument(context, { args: known.own(), id: target.id, extension }, arg);
  lookup.changed(target.id, state);
};

/** Iterates as Python does: a mapping by its keys, a string by its characters. */
const itemsOf = (run: Data): readonly Data[] | undefined => {
  if (typeof run === 'string') return [...run];
  if (isDict(run)) return [...run.keys()];
  return Array.isArray(run) ? run : undefined;
};

/** The arguments that are extended, their state, and the extension. */
type Extended = { readonly args: Data[]; readonly id: DataKey; readonly extension: Dict };

const extendArgument = (context: Extending, extended: Extended, arg: Data): void => {
  const { args } = extended;
  const key = isDict(arg) ? firstKey(arg) : undefined;
  let done = false;
  for (let index = 0; index < args.length; index += 1) {
    const old = args[index] as Data;
    if (typeof arg === 'string' && typeof old === 'string') {
      args[index] = arg;
      done = true;
    } else if (isDict(arg) && isDict(old)) {
      const oldKey = firstKey(old);
      if (key !== undefined && key === oldKey) {
        done = true;
        if (isRequisiteKeyword(key)) addRequisites(context, extended, index, key, arg);
        else args[index] = arg;
      } else if (key === 'name' && oldKey === 'names') args[index] = arg;
    }
  }
  if (!done) args.push(arg);
};

const addRequisites = (
  { grown, problems }: Extending,
  { args, id, extension }: Extended,
  index: number,
  key: DataKey,
  arg: Dict,
): void => {
  const old = args[index] as Dict;
  const more = arg.get(key);
  const known = old.get(key);
  if (!Array.isArray(more) || !Array.isArray(known)) {
    const message = `The ${pyStr(key)} statement in state '${pyStr(id)}' in SLS '${pyStr(slsOf(extension))}' needs to be formed as a list`;
    problems.push(problem(message, locationOf([extension, arg], key)));
    return;
  }
  if (grown.has(known)) for (const one of more) known.push(one);
  else {
    const list = [...known, ...more];
    grown.add(list);
    const copy = copyOf(old);
    copy.set(key, list);
    args[index] = copy;
  }
};

/**
 * Removes the SLS (plain strings or `sls:`, globs allowed) and IDs that `__exclude__` names.
 * (salt.state.State.apply_exclude)
 */
export const applyExclude = (high: High): void => {
  const { ids, exclude = [] } = high;
  high.exclude = undefined;
  const globs: string[] = [];
  for (const one of exclude) {
    if (typeof one === 'string') globs.push(one);
    if (!isDict(one) || one.size !== 1) continue;
    const sls = one.get('sls');
    if (typeof sls === 'string') globs.push(sls);
    const id = one.get('id');
    if (id !== undefined && id !== null && typeof id !== 'object') ids.delete(id);
  }
  if (globs.length === 0) return;
  for (const { id, sls } of ids.values()) {
    if (typeof sls === 'string' && sls !== '' && globs.some(glob => fnmatch(sls, glob)))
      ids.delete(id);
  }
};
