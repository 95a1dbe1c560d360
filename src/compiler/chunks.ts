import { pyStr } from '../data/python/python-text.ts';
import { canonical } from '../data/values/canonical.ts';
import { objectNote } from '../data/values/object-note.ts';
import type { Data, DataKey, Dict } from '../data/values/value.ts';
import { Float, isDict, isWhole, keyText, toPlain } from '../data/values/value.ts';
import type { SourceLocation } from '../protocol/error.ts';
import type { LowChunk } from '../protocol/low.ts';
import { type PlainDict, setOwn } from '../protocol/plain.ts';
import { markWholeFloat } from '../protocol/whole-floats.ts';
import type { High, IdDeclaration, StateDeclaration } from './high.ts';
import { isSaltKey } from './high.ts';
import { locationOf } from './location.ts';
import type { Problem } from './problem.ts';
import { problem } from './problem.ts';

/**
 * A low chunk: the call of a state. Its arguments stay where they were written until all of them
 * are needed; a state with neither names nor an order is its own chunk.
 */
export type Chunk = {
  readonly declaration: IdDeclaration;
  readonly state: StateDeclaration;
  readonly fun: string | undefined;
  /** The item of `names` that it was made for. */
  readonly named: Data | undefined;
  order: Data | undefined;
  /** Its index in `names`, if the state has no order to which it could be added. */
  readonly place?: Data;
};

/** Returns a chunk in Salt's form. */
export const chunkData = (chunk: Chunk): Dict => {
  const dict: Dict = new Map();
  eachArgument(chunk, (key, value) => dict.set(key, value));
  return dict;
};

/** Returns a chunk in the form that is sent to the host. */
const lowChunk = (chunk: Chunk): LowChunk => {
  const plain: PlainDict = {};
  let floats: Set<string> | undefined;
  eachArgument(chunk, (key, value) => {
    const name = keyText(key);
    setOwn(plain, name, toPlain(value));
    if (isWhole(value)) {
      floats ??= new Set();
      floats.add(name);
    } else floats?.delete(name);
  });
  for (const name of floats ?? []) markWholeFloat(plain, name);
  sources.put(plain, chunk);
  return plain as LowChunk;
};

const sources = objectNote<Chunk>();

/**
 * Returns the position of a low chunk's argument in its SLS.
 *
 * @param low a chunk that `lowChunks` made
 * @param argument the argument's name
 * @returns undefined for a chunk that was not compiled from an SLS
 */
export const argumentLocation = (low: LowChunk, argument: string): SourceLocation | undefined => {
  const chunk = sources.of(low);
  if (!chunk) return undefined;
  const { declaration, state, named } = chunk;
  const own = named === undefined ? [] : listOf(readName(named).own);
  const written = [...listOf(state.args), ...own].findLast(arg => isDict(arg) && arg.has(argument));
  return locationOf([declaration, written], argument);
};

/**
 * Returns the position of a low chunk's requisite in its SLS.
 *
 * @param low a chunk that `lowChunks` made
 * @param kind the kind of requisite, such as `require`
 * @param at the requisite's index among those of its kind
 * @returns the position of the kind for requisites that another state added by `require_in`
 */
export const requisiteLocation = (
  low: LowChunk,
  kind: string,
  at: number,
): SourceLocation | undefined => {
  const chunk = sources.of(low);
  const { declaration, state } = chunk ?? {};
  const written = listOf(state?.args ?? null).findLast(arg => isDict(arg) && arg.has(kind));
  const list = isDict(written) ? written.get(kind) : undefined;
  if (!Array.isArray(list) || at >= list.length) return argumentLocation(low, kind);
  const item = list[at];
  return isDict(item)
    ? locationOf([declaration, written, list, item], [...item.keys()][0])
    : locationOf([declaration, written, list], at);
};

/**
 * Returns the position of a low chunk's state in its SLS.
 *
 * @param low a chunk that `lowChunks` made
 * @returns undefined for a chunk that was not compiled from an SLS
 */
export const stateLocation = (low: LowChunk): SourceLocation | undefined => {
  const chunk = sources.of(low);
  if (!chunk) return undefined;
  const { declaration, state } = chunk;
  const long = `${low.state}.${low.fun}`;
  const { origin, id, written } = declaration;
  const isLong = isDict(written) && written.has(long);
  const at = locationOf([declaration], isLong ? long : state.module);
  return at?.line === undefined ? locationOf([declaration, origin.data], id) : at;
};

/** Calls `set` for all arguments in order; of a repeated key, the later value wins. */
const eachArgument = (chunk: Chunk, set: (key: DataKey, value: Data) => void): void => {
  const { state, named, fun = null, order = null, place } = chunk;
  const { id, origin } = chunk.declaration;
  set('state', state.module);
  set('name', id);
  if (origin.sls !== undefined) set('__sls__', origin.sls);
  if (origin.env !== undefined) set('__env__', origin.env);
  if (origin.tags !== undefined) set('__tags__', [...origin.tags]);
  set('__id__', id);
  for (const arg of listOf(state.args)) {
    if (!isDict(arg)) continue;
    arg.forEach((value, key) => {
      if (!notPassed.has(key)) set(key, key === 'name' && typeof value !== 'string' ? id : value);
    });
  }
  if (state.order !== undefined) set('order', state.order);
  if (named !== undefined) {
    const { name, own } = readName(named);
    set('name', name);
    for (const arg of listOf(own))
      for (const [key, value] of isDict(arg) ? arg : []) if (key !== 'name_order') set(key, value);
  }
  if (place !== undefined) set('name_order', place);
  set('fun', fun);
  set('order', order);
};

/** Keys that a state cannot set, or that are interpreted here. */
const notPassed: ReadonlySet<DataKey> = new Set(['state', 'names', 'name_order']);

const listOf = (data: Data): readonly Data[] => (Array.isArray(data) ? data : []);

/** Reads an item of `names`: a plain name, or one with arguments of its own. */
const readName = (item: Data): { readonly name: Data; readonly own: Data } => {
  if (!isDict(item)) return { name: item, own: [] };
  const [name = null, own = null] = item.entries().next().value ?? [];
  return { name, own };
};

export type Chunks = { readonly chunks: Chunk[]; readonly problems: readonly Problem[] };

/**
 * Flattens high data to one chunk per state and name, in the order in which states start.
 * (salt.state.State.compile_high_data, order_chunks)
 */
export const chunksOf = (high: High): Chunks => {
  const found: Found = { chunks: [], offsets: new Map(), problems: [] };
  for (const declaration of high.ids.values()) {
    if (isSaltKey(declaration.id)) continue;
    for (let state = declaration.first; state; state = state.next)
      if (!isSaltKey(state.module)) addChunks(found, state);
  }
  return { chunks: inOrder(found), problems: found.problems };
};

/** Returns chunks in the form that is sent to the host. */
export const lowChunks = (chunks: readonly Chunk[]): LowChunk[] => chunks.map(lowChunk);

type Found = {
  readonly chunks: Chunk[];
  /** Order offsets from the indexes in `names`. */
  readonly offsets: Map<Chunk, number>;
  readonly problems: Problem[];
};

const addChunks = (found: Found, state: StateDeclaration): void => {
  const { declaration } = state;
  let { fun } = state;
  if (state.kind === 'plain' && state.order !== undefined) {
    if (fun !== undefined) found.chunks.push(state);
    return;
  }
  let order: Data | undefined;
  let place: Data | undefined;
  let names: readonly Data[] | undefined;
  for (const arg of listOf(state.args)) {
    if (typeof arg === 'string') fun = state.fun ?? arg;
    if (!isDict(arg)) continue;
    for (const key of arg.keys())
      if (key === 'names') names = [...(names ?? []), ...listOf(arg.get(key) ?? null)];
      else if (key === 'order') order = arg.get(key);
      else if (key === 'name_order') place = arg.get(key);
  }
  if (fun === undefined) return;
  order = state.order ?? order;
  if (names && names.length > 0)
    addNamed(found, { declaration, state, fun, order }, uniqueNames(names));
  else add(found, { declaration, state, fun, order, named: undefined }, place);
};

const add = ({ chunks, offsets }: Found, chunk: Chunk, place: Data | undefined): void => {
  chunks.push(place !== undefined && chunk.order === undefined ? { ...chunk, place } : chunk);
  if (place !== undefined && chunk.order !== undefined)
    offsets.set(chunk, (Number(place) || 0) / 10_000);
};

type Common = Pick<Chunk, 'declaration' | 'state' | 'fun' | 'order'>;

const addNamed = (found: Found, common: Common, names: readonly Data[]): void => {
  const { declaration, state, fun } = common;
  for (const [index, item] of names.entries()) {
    const { name, own } = readName(item);
    if (!Array.isArray(own) || !own.every(isDict)) {
      const message = `The arguments of name '${pyStr(name)}' in state '${pyStr(declaration.id)}' in SLS '${pyStr(declaration.sls)}' need to be formed as a list of single key dictionaries`;
      found.problems.push(problem(message, locationOf([declaration, names, item], name)));
      continue;
    }
    let { order } = common;
    for (const arg of own) if (arg.has('order')) order = arg.get('order');
    add(found, { declaration, state, fun, order, named: item }, index + 1);
  }
};

const uniqueNames = (names: readonly Data[]): Data[] => {
  const seen = new Set<string>();
  return names.filter(name => {
    const text = canonical(name);
    const fresh = !seen.has(text);
    seen.add(text);
    return fresh;
  });
};

/** Python counts booleans as integers, also in `order: true`. */
const orderNumber = (order: Data | undefined): number | undefined => {
  if (typeof order === 'number') return order;
  if (typeof order === 'boolean' || typeof order === 'bigint') return Number(order);
  return order instanceof Float ? order.value : undefined;
};

const isInt = (order: Data | undefined): boolean =>
  (typeof order === 'number' && Number.isInteger(order)) ||
  typeof order === 'boolean' ||
  typeof order === 'bigint';

const inOrder = ({ chunks, offsets }: Found): Chunk[] => {
  let cap = 1;
  for (const { order } of chunks) {
    const value = isInt(order) ? (orderNumber(order) as number) : 0;
    if (value > cap - 1 && value > 0) cap = value + 100;
  }
  let sorted = true;
  let last = Number.NEGATIVE_INFINITY;
  for (const chunk of chunks) {
    const order = settle(chunk.order, offsets.get(chunk) ?? 0, cap);
    if (typeof chunk.order !== 'boolean' || order !== Number(chunk.order))
      chunk.order = chunk.order instanceof Float ? new Float(order) : order;
    if (order <= last) sorted = false;
    last = order;
  }
  if (sorted) return chunks;
  return chunks
    .map((chunk): Sortable => ({ chunk, order: orderNumber(chunk.order) ?? 0, tie: undefined }))
    .sort((a, b) => a.order - b.order || compareTies(a, b))
    .map(({ chunk }) => chunk);
};

const settle = (written: Data | undefined, offset: number, cap: number): number => {
  let order = orderNumber(written);
  if (order === undefined)
    order = written === 'last' ? cap + 1_000_000 : written === 'first' ? 0 : cap;
  order += offset;
  return order < 0 ? cap + 1_000_000 + order : order;
};

type Sortable = { readonly chunk: Chunk; readonly order: number; tie: string | undefined };

const compareTies = (a: Sortable, b: Sortable): number => {
  const [first, second] = [tieKey(a), tieKey(b)];
  return first < second ? -1 : first > second ? 1 : 0;
};

const tieKey = (one: Sortable): string => {
  if (one.tie !== undefined) return one.tie;
  const dict = chunkData(one.chunk);
  one.tie = ['state', 'name', 'fun'].map(key => pyStr(dict.get(key) ?? null)).join('');
  return one.tie;
};
