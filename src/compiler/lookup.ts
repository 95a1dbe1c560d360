import type { Data, DataKey } from '../data/values/value.ts';
import { isDict } from '../data/values/value.ts';
import type { High } from './high.ts';
import { firstKey, isSaltKey } from './high.ts';

/** A state of high data: its ID and its module. */
export type Ref = { readonly id: DataKey; readonly state: string };

/**
 * Finds states by the names that other states use. Salt scans all high data for each question;
 * these indexes are made once and updated by `changed`.
 */
export class StateIndex {
  readonly #high: High;
  /** By module, made on the first search in a module. */
  readonly #byArgument = new Map<string, ArgumentIndex>();
  #byState: Map<string, DataKey[]> | undefined;
  #bySls: Map<Data, DataKey[]> | undefined;
  #byName: Map<Data, Ref> | undefined;
  #places: Map<DataKey, number> | undefined;

  constructor(high: High) {
    this.#high = high;
  }

  /**
   * Returns the state with this ID or, if there is none, those with an argument of this value.
   * (salt.state.find_name)
   */
  find(name: DataKey, state: string, strict: boolean): Ref[] {
    const declared = this.#high.ids.get(name);
    if (declared && (!strict || declared.state(state))) return [{ id: name, state }];
    if (state === 'sls')
      return this.#idsOfSls(name).map(id => ({
        id,
        state: declaredStates(this.#high, id)[0] ?? '',
      }));
    return this.#withArgument(name, state);
  }

  /** Returns all states of an SLS. (salt.state.find_sls_ids) */
  ofSls(sls: Data): Ref[] {
    return this.#idsOfSls(sls).flatMap(id =>
      declaredStates(this.#high, id).map(state => ({ id, state })),
    );
  }

  /** Returns the first state with this `name` argument. */
  named(name: Data): Ref | undefined {
    this.#byName ??= indexNames(this.#high);
    return this.#byName.get(name);
  }

  /** Records that arguments of a state were added or replaced. */
  changed(id: DataKey, state: string): void {
    if (this.#byState) addTo(this.#byState, state, id);
    const index = this.#byArgument.get(state);
    if (index) indexArguments(index, this.#high, id, state);
  }

  #withArgument(name: DataKey, state: string): Ref[] {
    const ids = [...(this.#arguments(state).get(name) ?? [])];
    // The index may still contain values that an extend has replaced; and Salt counts every
    // occurrence.
    const found: Ref[] = [];
    for (const id of ids)
      for (const arg of argumentsOf(this.#high, id, state))
        if (onlyValue(arg) === name) found.push({ id, state });
    return found.length > 1 ? this.#inOrder(found) : found;
  }

  #arguments(state: string): ArgumentIndex {
    const known = this.#byArgument.get(state);
    if (known) return known;
    this.#byState ??= indexStates(this.#high);
    const index: ArgumentIndex = new Map();
    for (const id of this.#byState.get(state) ?? []) indexArguments(index, this.#high, id, state);
    this.#byArgument.set(state, index);
    return index;
  }

  #inOrder(refs: Ref[]): Ref[] {
    this.#places ??= new Map([...this.#high.ids.keys()].map((id, at) => [id, at]));
    const places = this.#places;
    return refs.sort((a, b) => (places.get(a.id) ?? 0) - (places.get(b.id) ?? 0));
  }

  #idsOfSls(sls: Data): readonly DataKey[] {
    this.#bySls ??= indexSls(this.#high);
    return this.#bySls.get(sls) ?? [];
  }
}

/** Returns the state modules that an ID declares, in order. */
export const declaredStates = ({ ids }: High, id: DataKey): string[] => {
  const names: string[] = [];
  for (const { module } of ids.get(id)?.states() ?? [])
    if (typeof module === 'string' && !isSaltKey(module)) names.push(module);
  return names;
};

const argumentsOf = ({ ids }: High, id: DataKey, state: string): readonly Data[] =>
  ids.get(id)?.state(state)?.complete() ?? [];

/** Returns the value of an argument that is a mapping with one key. */
const onlyValue = (arg: Data): Data | undefined =>
  isDict(arg) && arg.size === 1 ? arg.values().next().value : undefined;

/** The IDs by values of their arguments. */
type ArgumentIndex = Map<Data, Set<DataKey>>;

const indexArguments = (values: ArgumentIndex, high: High, id: DataKey, state: string): void => {
  for (const arg of argumentsOf(high, id, state)) {
    const value = onlyValue(arg);
    if (value === undefined || (value !== null && typeof value === 'object')) continue;
    const ids = values.get(value);
    if (ids) ids.add(id);
    else values.set(value, new Set([id]));
  }
};

const addTo = <K>(index: Map<K, DataKey[]>, key: K, id: DataKey): void => {
  const ids = index.get(key);
  if (ids) ids.push(id);
  else index.set(key, [id]);
};

const indexStates = (high: High): Map<string, DataKey[]> => {
  const index = new Map<string, DataKey[]>();
  for (const { id, first = null } of high.ids.values())
    for (let state = first; state; state = state.next)
      if (typeof state.module === 'string' && !isSaltKey(state.module))
        addTo(index, state.module, id);
  return index;
};

const indexSls = (high: High): Map<Data, DataKey[]> => {
  const index = new Map<Data, DataKey[]>();
  for (const { id, first, sls } of high.ids.values())
    if (first !== undefined && !isSaltKey(id)) addTo(index, sls, id);
  return index;
};

const indexNames = (high: High): Map<Data, Ref> => {
  const index = new Map<Data, Ref>();
  for (const id of high.ids.keys())
    for (const state of declaredStates(high, id))
      for (const arg of argumentsOf(high, id, state)) {
        const name = isDict(arg) ? arg.get('name') : undefined;
        if (name !== undefined && !index.has(name)) index.set(name, { id, state });
      }
  return index;
};

/** Returns the names of the arguments that a state sets. (salt.state.state_args) */
export const argumentNames = (high: High, { id, state }: Ref): Set<DataKey> => {
  const names = new Set<DataKey>();
  for (const arg of argumentsOf(high, id, state)) {
    const name = isDict(arg) && arg.size === 1 ? firstKey(arg) : undefined;
    if (name !== undefined) names.add(name);
  }
  return names;
};
