import { canonical } from '../data/canonical.ts';
import { pyStr } from '../data/python-text.ts';
import type { Data, DataKey, Dict } from '../data/value.ts';
import { Float, isDict, toPlainDict } from '../data/value.ts';
import type { LowChunk } from '../protocol/low.ts';
import type { High } from './high.ts';
import { isOwnKey, placeOf, problem, slsOf } from './high.ts';
import type { Problem } from './problem.ts';

export type Chunks = { readonly chunks: Dict[]; readonly problems: readonly Problem[] };

/**
 * High data flattened to one chunk per state and name, in the order states start.
 * (salt.state.State.compile_high_data, order_chunks)
 */
export const chunksOf = (high: High): Chunks => {
  const found: Found = { chunks: [], orders: [], offsets: [], problems: [] };
  for (const [id, body] of high) {
    if (isOwnKey(id) || !isDict(body)) continue;
    for (const state of body.keys()) {
      const args = body.get(state);
      if (!isOwnKey(state) && Array.isArray(args)) addChunks(found, id, body, state, args);
    }
  }
  return { chunks: inOrder(found), problems: found.problems };
};

/** Chunks as they travel to the host. */
export const lowChunks = (chunks: readonly Dict[]): LowChunk[] =>
  chunks.map(chunk => toPlainDict(chunk) as LowChunk);

type Found = {
  readonly chunks: Dict[];
  /** Beside each chunk its `order` as written, and what its place among `names` adds to it. */
  readonly orders: (Data | undefined)[];
  readonly offsets: number[];
  readonly problems: Problem[];
};

const add = ({ chunks, orders, offsets }: Found, chunk: Dict): void => {
  const place = chunk.get('name_order');
  if (place !== undefined) chunk.delete('name_order');
  chunks.push(chunk);
  orders.push(chunk.get('order'));
  offsets.push(Number(place ?? 0) / 10_000);
};

const addChunks = (
  found: Found,
  id: DataKey,
  body: Dict,
  state: DataKey,
  args: readonly Data[],
): void => {
  const chunk: Dict = new Map<DataKey, Data>().set('state', state).set('name', id);
  const [sls, env] = [body.get('__sls__'), body.get('__env__')];
  if (sls !== undefined) chunk.set('__sls__', sls);
  if (env !== undefined) chunk.set('__env__', env);
  chunk.set('__id__', id);
  let fun: string | undefined;
  let names: Data[] | undefined;
  for (const arg of args) {
    if (typeof arg === 'string') fun = arg;
    if (!isDict(arg)) continue;
    for (const key of arg.keys()) {
      const value = arg.get(key) as Data;
      if (key === 'names') names = [...(names ?? []), ...(Array.isArray(value) ? value : [])];
      // A state cannot say which module it is.
      else if (key === 'state') continue;
      else chunk.set(key, key === 'name' && typeof value !== 'string' ? id : value);
    }
  }
  if (fun === undefined) return;
  if (names && names.length > 0) {
    addNamed(found, chunk, fun, names, body);
    return;
  }
  chunk.set('fun', fun);
  add(found, chunk);
};

const addNamed = (
  found: Found,
  common: Dict,
  fun: string,
  names: readonly Data[],
  body: Dict,
): void => {
  for (const [index, entry] of unique(names).entries()) {
    const chunk = new Map(common);
    if (isDict(entry)) {
      const [name, own] = [...entry][0] ?? [null, null];
      chunk.set('name', name);
      if (!Array.isArray(own) || !own.every(isDict)) {
        const message = `The arguments of name '${pyStr(name)}' in state '${pyStr(common.get('__id__') ?? null)}' in SLS '${pyStr(slsOf(body))}' need to be formed as a list of single key dictionaries`;
        found.problems.push(problem(message, placeOf([body, names, entry], name)));
        continue;
      }
      for (const arg of own) for (const [key, value] of arg) chunk.set(key, value);
    } else chunk.set('name', entry);
    chunk.set('name_order', index + 1);
    chunk.set('fun', fun);
    add(found, chunk);
  }
};

const unique = (names: readonly Data[]): Data[] => {
  const seen = new Set<string>();
  return names.filter(name => {
    const text = canonical(name);
    const fresh = !seen.has(text);
    seen.add(text);
    return fresh;
  });
};

/** Python counts booleans as integers, and so does `order: true`. */
const orderNumber = (order: Data | undefined): number | undefined => {
  if (typeof order === 'number') return order;
  if (typeof order === 'boolean' || typeof order === 'bigint') return Number(order);
  return order instanceof Float ? order.value : undefined;
};

const isInt = (order: Data | undefined): boolean =>
  (typeof order === 'number' && Number.isInteger(order)) ||
  typeof order === 'boolean' ||
  typeof order === 'bigint';

const inOrder = ({ chunks, orders, offsets }: Found): Dict[] => {
  let cap = 1;
  for (const order of orders) {
    const value = isInt(order) ? (orderNumber(order) as number) : 0;
    if (value > cap - 1 && value > 0) cap = value + 100;
  }
  const settled: number[] = [];
  let sorted = true;
  for (const [at, written] of orders.entries()) {
    const order = settle(written, offsets[at] ?? 0, cap);
    if (order !== written)
      chunks[at]?.set('order', written instanceof Float ? new Float(order) : order);
    if (at > 0 && order <= (settled[at - 1] ?? 0)) sorted = false;
    settled.push(order);
  }
  if (sorted) return chunks;
  return chunks
    .map((chunk, at) => ({ chunk, order: settled[at] ?? 0 }))
    .sort((a, b) => a.order - b.order || compareTies(a.chunk, b.chunk))
    .map(({ chunk }) => chunk);
};

const settle = (written: Data | undefined, offset: number, cap: number): number => {
  let order = orderNumber(written);
  if (order === undefined)
    order = written === 'last' ? cap + 1_000_000 : written === 'first' ? 0 : cap;
  order += offset;
  return order < 0 ? cap + 1_000_000 + order : order;
};

const compareTies = (a: Dict, b: Dict): number => {
  const [first, second] = [tieKey(a), tieKey(b)];
  return first < second ? -1 : first > second ? 1 : 0;
};

const tieKey = (chunk: Dict): string =>
  [chunk.get('state'), chunk.get('name'), chunk.get('fun')]
    .map(value => pyStr(value ?? null))
    .join('');
