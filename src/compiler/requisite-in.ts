import { pyStr } from '../data/python/python-text.ts';
import type { Data, DataKey, Dict } from '../data/values/value.ts';
import { isDict } from '../data/values/value.ts';
import { reconcileExtend } from './extend.ts';
import type { High, IdDeclaration } from './high.ts';
import { firstKey, isSaltKey } from './high.ts';
import { notUsed, requisiteInNames } from './keywords.ts';
import { locationOf } from './location.ts';
import type { Ref } from './lookup.ts';
import { argumentNames, declaredStates, type StateIndex } from './lookup.ts';
import type { Problem } from './problem.ts';
import { problem } from './problem.ts';

/**
 * Converts requisites that states add to others (`require_in`, `use`, `prereq` …) into arguments of
 * those states, by extending them. (salt.state.State.requisite_in)
 */
export class RequisitesIn {
  readonly #work: Work;
  readonly #disabled: readonly string[];

  /** @param disabled - `disabled_requisites`: keywords to leave alone. */
  constructor(high: High, lookup: StateIndex, disabled: readonly string[]) {
    this.#work = { high, lookup, extend: new Map(), added: new Map(), problems: [] };
    this.#disabled = disabled;
  }

  /** Collects the requisites that an ID adds to others; IDs come in order. */
  take(declaration: IdDeclaration): void {
    for (let state = declaration.first; state; state = state.next) {
      const { module, args } = state;
      if (isSaltKey(module) || typeof module !== 'string' || !Array.isArray(args)) continue;
      for (const arg of args) {
        const key = isDict(arg) ? firstKey(arg) : undefined;
        if (isDict(arg) && typeof key === 'string' && this.#counts(key))
          handOut(this.#work, { id: declaration.id, state: module, declaration, arg, key });
      }
    }
  }

  /** Extends the other states by what was collected. */
  apply(): Problem[] {
    const { high, lookup, extend, problems } = this.#work;
    high.extend = [extend];
    return [...problems, ...reconcileExtend(high, lookup, true)];
  }

  #counts(key: string): boolean {
    return requisiteInNames.has(key) && !this.#disabled.includes(key);
  }
}

type Work = {
  readonly high: High;
  readonly lookup: StateIndex;
  /** The arguments to be added: ID → module → arguments. */
  readonly extend: Map<DataKey, Dict>;
  /** The requisite lists in `extend` so far, by argument list and keyword. */
  readonly added: Map<Data[], Map<string, Data[]>>;
  readonly problems: Problem[];
};

/** A requisite that a state adds to others. */
type Statement = {
  readonly id: DataKey;
  readonly state: string;
  readonly declaration: IdDeclaration;
  readonly arg: Dict;
  readonly key: string;
};

const handOut = (work: Work, statement: Statement): void => {
  const items = statement.arg.get(statement.key) ?? null;
  if (isDict(items))
    for (const [state, name] of items) oneTarget(work, statement, pyStr(state), name);
  else if (Array.isArray(items)) listOfTargets(work, statement, items);
};

const oneTarget = (work: Work, statement: Statement, written: string, name: Data): void => {
  if (Array.isArray(name) || isDict(name)) {
    illegal(work, statement, name);
    return;
  }
  const state = withoutDots(work, statement, written, name);
  addRequisite(work, statement, { id: name, state });
};

const listOfTargets = (work: Work, statement: Statement, items: readonly Data[]): void => {
  let targets: Ref[] = [];
  for (const item of items) {
    const named = isDict(item) ? entryOf(item) : byName(work, item);
    if (!named) {
      if (Array.isArray(item)) illegal(work, statement, item);
      continue;
    }
    const { id, state } = named;
    if (state !== 'sls' && (Array.isArray(id) || isDict(id))) {
      illegal(work, statement, id);
      continue;
    }
    if (state === 'sls') targets = work.lookup.ofSls(id);
    else targets.push({ id: id as DataKey, state });
    withoutDots(work, statement, state, id);
    // For each further target, Salt walks through the earlier ones again, which shows in the lists.
    for (const target of targets) hand(work, statement, target);
  }
};

/** A target as it is written: its values may have any type. */
type Named = { readonly id: Data; readonly state: string };

const entryOf = (item: Dict): Named | undefined => {
  const key = firstKey(item);
  return key === undefined ? undefined : { id: item.get(key) ?? null, state: pyStr(key) };
};

/** A target that is only a name: the first state of that ID, or the state with that `name`. */
const byName = ({ high, lookup }: Work, item: Data): Named | undefined => {
  if (Array.isArray(item) || isDict(item)) return undefined;
  if (!high.ids.has(item)) return lookup.named(item);
  const state = declaredStates(high, item)[0];
  return state === undefined ? undefined : { id: item, state };
};

const illegal = ({ problems }: Work, { declaration, arg, key }: Statement, value: Data): void => {
  const message = `Illegal requisite "${pyStr(value)}", please check your syntax.\n`;
  problems.push(problem(message, locationOf([declaration, arg], key)));
};

const withoutDots = (work: Work, statement: Statement, state: string, name: Data): string => {
  if (!state.includes('.')) return state;
  const [module = ''] = state.split('.');
  const message =
    `Invalid requisite in ${keyword(statement)}: ${state} for ${pyStr(name)}, in SLS ` +
    `'${pyStr(statement.declaration.sls)}'. Requisites must not contain dots, did you mean '${module}'?`;
  work.problems.push(
    problem(message, locationOf([statement.declaration, statement.arg], statement.key)),
  );
  return module;
};

/** `require_in` adds a `require` to its target. */
const keyword = ({ key }: Statement): string => key.split('_')[0] ?? key;

const hand = (work: Work, statement: Statement, target: Ref): void => {
  const { high, lookup } = work;
  const { id, state, key } = statement;
  switch (key) {
    case 'prereq':
      for (const ref of lookup.find(target.id, target.state, true))
        argumentsFor(work, ref).push(prerequired({ id, state }));
      break;
    case 'use_in':
      for (const ref of lookup.find(target.id, target.state, true))
        copyArguments(
          work,
          { id, state },
          ref,
          argumentNames(high, { ...ref, state: target.state }),
        );
      break;
    case 'use':
      for (const ref of lookup.find(target.id, target.state, true))
        copyArguments(work, ref, { id, state }, argumentNames(high, { id, state }));
      break;
    case 'prereq_in':
      argumentsFor(work, { id, state }).push(prerequired(target));
      addRequisite(work, statement, target);
      break;
    default:
      addRequisite(work, statement, target);
  }
};

const prerequired = (to: Ref): Data => new Map([['prerequired', [new Map([[to.state, to.id]])]]]);

const argumentsFor = ({ extend }: Work, { id, state }: Ref): Data[] => {
  let body = extend.get(id);
  if (!body) {
    body = new Map();
    extend.set(id, body);
  }
  const known = body.get(state);
  if (Array.isArray(known)) return known;
  const args: Data[] = [];
  body.set(state, args);
  return args;
};

const addRequisite = (work: Work, statement: Statement, target: Ref): void => {
  const args = argumentsFor(work, target);
  const body = work.extend.get(target.id) as Dict;
  body.set('__env__', statement.declaration.origin.env ?? null);
  body.set('__sls__', statement.declaration.sls);
  const rkey = keyword(statement);
  let lists = work.added.get(args);
  if (!lists) {
    lists = new Map();
    work.added.set(args, lists);
  }
  const requisite: Dict = new Map().set(statement.state, statement.id);
  const list = lists.get(rkey);
  if (list) {
    list.push(requisite);
    return;
  }
  const fresh: Data[] = [requisite];
  lists.set(rkey, fresh);
  args.push(new Map([[rkey, fresh]]));
};

const copyArguments = (work: Work, from: Ref, to: Ref, own: ReadonlySet<DataKey>): void => {
  const args = work.high.ids.get(from.id)?.state(from.state)?.complete() ?? [];
  const target = argumentsFor(work, to);
  for (const arg of args) {
    const name = isDict(arg) && arg.size === 1 ? firstKey(arg) : undefined;
    if (name !== undefined && !notUsed.has(name) && !own.has(name)) target.push(arg);
  }
};
