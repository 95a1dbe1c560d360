import type { Trace } from '../data/values/position.ts';
import type { Data, DataKey, Dict } from '../data/values/value.ts';
import { isDict } from '../data/values/value.ts';
import { fileKey, fileOf, type Marked, originalKey, originalOf, traceKey } from './place.ts';

/**
 * High data while it is compiled. Of tens of thousands of states each is three small objects that
 * refer to what an SLS wrote; `highData` gives it the shape that Salt shows.
 */
export type High = {
  readonly ids: Map<DataKey, IdDeclaration>;
  /** `__extend__` and `__exclude__`, where there are some. */
  extend: readonly Data[] | undefined;
  exclude: readonly Data[] | undefined;
};

/** Where an ID belongs: its `__sls__` and `__env__`, and the file that faults are told with. */
export type StateOrigin = {
  readonly sls: Data | undefined;
  readonly env: Data | undefined;
  readonly file: string | undefined;
  /** The mapping that the file holds. */
  readonly data?: Dict | undefined;
  /** Where the positions in that file are in the templates. */
  readonly trace?: Trace | undefined;
  /** Tags of all states of the SLS: of its header, and of what included it. */
  readonly tags?: readonly string[];
};

/** An ID with its states. */
export class IdDeclaration implements Marked {
  readonly id: DataKey;
  readonly written: Data;
  readonly origin: StateOrigin;
  /** Its first state; null when it has none, undefined when it is not a mapping. */
  first: StateDeclaration | null | undefined;
  /** The last requisite statement that was checked: Salt looks there for pairs. */
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

  /** Its states in order; empty when it is not a mapping. */
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

  /** Declares a further state. */
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
 * What is known of a list of arguments: `plain` are mappings of one key, none of which says names
 * or an order; `own` is a list made for its state alone, which may be changed.
 */
export type ArgumentKind = 'plain' | 'written' | 'own';

/** A state module below an ID, with its arguments. */
export class StateDeclaration {
  readonly declaration: IdDeclaration;
  /** The one below the same ID after this. */
  next: StateDeclaration | null;
  readonly module: DataKey;
  /** As written, until it is extended: nothing here may change it. No list when the SLS is at fault. */
  args: Data;
  kind: ArgumentKind;
  /** The function of `module.function`; otherwise it stands among the arguments. */
  fun: string | undefined;
  /** Its number in the order of definition, where the arguments say no order. */
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

  /** The arguments as Salt's high data has them: with the function and the order. */
  complete(): Data[] {
    const args = Array.isArray(this.args) ? this.args : [];
    const fun = this.fun === undefined ? [] : [this.fun];
    const order = this.order === undefined ? [] : [new Map([['order', this.order]])];
    return [...args, ...fun, ...order];
  }

  /** Of a state that says neither names nor an order: being its own chunk. */
  get state(): StateDeclaration {
    return this;
  }

  get named(): undefined {
    return undefined;
  }

  /** The complete arguments, to be changed. */
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

/** High data that somebody wrote as such. */
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

/** Says a key of an ID where it belongs? */
export const isOrigin = (key: DataKey): boolean => key === '__sls__' || key === '__env__';

/** What an ID itself says about where it belongs counts more than where it stands. */
export const stateOriginOf = (body: Dict, origin: StateOrigin): StateOrigin =>
  body.has('__sls__') || body.has('__env__')
    ? { ...origin, sls: body.get('__sls__') ?? origin.sls, env: body.get('__env__') ?? origin.env }
    : origin;

/** High data in Salt's own shape: ID → state module → list of arguments. */
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

/** The key of a mapping's first entry, which is what Salt looks at in an argument. */
export const firstKey = (dict: Dict): DataKey | undefined => dict.keys().next().value;

/** Keys such as `__sls__` are Salt's own and no state. */
export const isOwnKey = (key: DataKey): boolean => typeof key === 'string' && key.startsWith('__');

/** Python's idea of nothing: what Salt means by an empty file or value. */
export const isFalsy = (data: Data): boolean =>
  data === null ||
  data === '' ||
  data === 0 ||
  data === false ||
  (Array.isArray(data) ? data.length === 0 : isDict(data) && data.size === 0);
