import type { Trace } from '../data/values/position.ts';
import type { Data, DataKey, Dict } from '../data/values/value.ts';
import { isDict } from '../data/values/value.ts';
import {
  fileKey,
  fileOf,
  type LocatedNode,
  originalKey,
  originalOf,
  traceKey,
} from './location.ts';

/**
 * High data during compilation. Each of tens of thousands of states is three small objects that
 * refer to the data of the SLS; `highData` converts them to the shape that Salt shows.
 */
export type High = {
  readonly ids: Map<DataKey, IdDeclaration>;
  /** `__extend__` and `__exclude__`, if any. */
  extend: readonly Data[] | undefined;
  exclude: readonly Data[] | undefined;
};

/** The origin of an ID: its `__sls__` and `__env__`, and the file for error messages. */
export type StateOrigin = {
  readonly sls: Data | undefined;
  readonly env: Data | undefined;
  readonly file: string | undefined;
  /** The mapping that contains it. */
  readonly data?: Dict | undefined;
  /** Maps positions in that file to the templates. */
  readonly trace?: Trace | undefined;
  /** Tags of all states of the SLS: of its header, and of what included it. */
  readonly tags?: readonly string[];
};

/** An ID with its states. */
export class IdDeclaration implements LocatedNode {
  readonly id: DataKey;
  readonly written: Data;
  readonly origin: StateOrigin;
  /** Its first state; null without states, undefined if it is not a mapping. */
  first: StateDeclaration | null | undefined;
  /** The last requisite statement that was checked: Salt searches it for pairs. */
  checked: readonly Data[] | undefined;

  constructor(id: DataKey, written: Data, origin: StateOrigin, first?: null) {
    this.id = id;
    this.written = written;
    this.origin = origin;
    this.first = first;
    this.checked = undefined;
  }

  get sls(): Data {
    return this.origin.sls ?? null;
  }

  /** Returns its states in order; none if it is not a mapping. */
  states(): StateDeclaration[] {
    const states: StateDeclaration[] = [];
    for (let state = this.first; state; state = state.next) states.push(state);
    return states;
  }

  state(module: Data): StateDeclaration | undefined {
    for (let state = this.first; state; state = state.next)
      if (state.module === module) return state;
    return undefined;
  }

  /** Declares another state. */
  add(module: DataKey, args: Data, kind?: ArgumentKind, fun?: string): StateDeclaration {
    const added = new StateDeclaration(this, module, args, kind, fun);
    let last = this.first;
    while (last?.next) last = last.next;
    if (last) last.next = added;
    else this.first = added;
    return added;
  }

  get [fileKey](): string | undefined {
    return this.origin.file;
  }

  get [traceKey](): Trace | undefined {
    return this.origin.trace;
  }

  get [originalKey](): object | undefined {
    return isDict(this.written) ? originalOf(this.written) : undefined;
  }
}

/**
 * The kind of a list of arguments: `plain` contains only mappings with one key, without names and
 * order; `own` was made for its state alone and may be changed.
 */
export type ArgumentKind = 'plain' | 'written' | 'own';

/** A state module below an ID, with its arguments. */
export class StateDeclaration {
  readonly declaration: IdDeclaration;
  /** The next state below the same ID. */
  next: StateDeclaration | null;
  readonly module: DataKey;
  /**
   * The arguments as written, until they are extended: do not change them. Not a list if the SLS is
   * wrong.
   */
  args: Data;
  kind: ArgumentKind;
  /** The function of `module.function`; otherwise it is among the arguments. */
  fun: string | undefined;
  /** Its number in the order of definition, if the arguments do not set an order. */
  order: number | undefined;

  constructor(
    declaration: IdDeclaration,
    module: DataKey,
    args: Data,
    kind: ArgumentKind = 'written',
    fun?: string,
  ) {
    this.declaration = declaration;
    this.next = null;
    this.module = module;
    this.args = args;
    this.kind = kind;
    this.fun = fun;
    this.order = undefined;
  }

  /** Returns the arguments as in Salt's high data: with the function and the order. */
  complete(): Data[] {
    const args = Array.isArray(this.args) ? this.args : [];
    const fun = this.fun === undefined ? [] : [this.fun];
    const order = this.order === undefined ? [] : [new Map([['order', this.order]])];
    return [...args, ...fun, ...order];
  }

  /** The state itself: if it has neither names nor an order, it is its own chunk. */
  get state(): StateDeclaration {
    return this;
  }

  get named(): undefined {
    return undefined;
  }

  /** Returns the complete arguments, which may be changed. */
  own(): Data[] {
    if (this.kind === 'own') return this.args as Data[];
    const own = this.complete();
    this.args = own;
    this.kind = 'own';
    this.fun = undefined;
    this.order = undefined;
    return own;
  }
}

export const newHigh = (): High => ({ ids: new Map(), extend: undefined, exclude: undefined });

export const isEmpty = ({ ids, extend, exclude }: High): boolean =>
  ids.size === 0 && !extend && !exclude;

/** Reads high data that a user wrote as such. */
export const highOf = (data: Dict): High => {
  const high = newHigh();
  for (const [id, body] of data)
    if (id === '__extend__') high.extend = Array.isArray(body) ? body : undefined;
    else if (id === '__exclude__') high.exclude = Array.isArray(body) ? body : undefined;
    else high.ids.set(id, declarationOf(id, body));
  return high;
};

const declarationOf = (id: DataKey, body: Data): IdDeclaration => {
  if (!isDict(body)) return new IdDeclaration(id, body, nowhere);
  const origin = stateOriginOf(body, { ...nowhere, file: fileOf(body) });
  const declaration = new IdDeclaration(id, body, origin, null);
  for (const [key, args] of body) if (!isOrigin(key)) declaration.add(key, args);
  return declaration;
};

const nowhere: StateOrigin = { sls: undefined, env: undefined, file: undefined };

/** Whether a key of an ID is its origin. */
export const isOrigin = (key: DataKey): boolean => key === '__sls__' || key === '__env__';

/** An origin in the ID itself overrides that of its file. */
export const stateOriginOf = (body: Dict, origin: StateOrigin): StateOrigin =>
  body.has('__sls__') || body.has('__env__')
    ? { ...origin, sls: body.get('__sls__') ?? origin.sls, env: body.get('__env__') ?? origin.env }
    : origin;

/** Returns high data in Salt's own shape: ID → state module → list of arguments. */
export const highData = ({ ids, extend, exclude }: High): Dict => {
  const data: Dict = new Map();
  for (const [id, declaration] of ids) data.set(id, bodyData(declaration));
  if (extend) data.set('__extend__', [...extend]);
  if (exclude) data.set('__exclude__', [...exclude]);
  return data;
};

const bodyData = (declaration: IdDeclaration): Data => {
  const { written, origin } = declaration;
  if (declaration.first === undefined) return written;
  const where: [DataKey, Data][] = [];
  if (origin.sls !== undefined) where.push(['__sls__', origin.sls]);
  if (origin.env !== undefined) where.push(['__env__', origin.env]);
  const modules = declaration
    .states()
    .map((state): [DataKey, Data] => [
      state.module,
      Array.isArray(state.args) ? state.complete() : state.args,
    ]);
  // Salt's own order: a state in short form comes last.
  return new Map(typeof written === 'string' ? [...where, ...modules] : [...modules, ...where]);
};

/** Returns the first key of a mapping, the only one that Salt reads in an argument. */
export const firstKey = (dict: Dict): DataKey | undefined => dict.keys().next().value;

/** Keys such as `__sls__` are Salt's own and not states. */
export const isSaltKey = (key: DataKey): boolean => typeof key === 'string' && key.startsWith('__');

/** Python's falsiness: Salt's test for an empty file or value. */
export const isFalsy = (data: Data): boolean =>
  data === null ||
  data === '' ||
  data === 0 ||
  data === false ||
  (Array.isArray(data) ? data.length === 0 : isDict(data) && data.size === 0);
