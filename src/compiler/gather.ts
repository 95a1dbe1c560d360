import { canonical } from '../data/canonical.ts';
import { splitFunctionName } from '../data/function-name.ts';
import { pyStr } from '../data/python-text.ts';
import type { Data, DataKey, Dict } from '../data/value.ts';
import { isDict } from '../data/value.ts';
import type { High } from './high.ts';
import { copyOf, emptyCopyOf, firstKey, placeOf, problem, setFile } from './high.ts';
import type { LoadedSls, SlsTree } from './load.ts';
import type { Problem } from './problem.ts';

export type GatherOptions = {
  /** `state_auto_order`: definition order decides where nothing else does. */
  readonly autoOrder: boolean;
};

export type Gathered = {
  readonly high: High;
  readonly problems: readonly Problem[];
  /** Every state has a function. */
  readonly complete: boolean;
};

/**
 * One body of high data from all SLS: short forms written out, `__sls__`/`__env__` and order
 * numbers added, extends and excludes set aside, IDs checked to be unique.
 * (salt.state.BaseHighState.render_highstate)
 */
export const gather = (tree: SlsTree, options: GatherOptions): Gathered => {
  const gathered = gatherWith(tree, options, () => noIds);
  return gathered.unique ? gathered : gatherWith(tree, options, sharedIds);
};

const noIds: ReadonlySet<DataKey> = new Set();

/**
 * @param shared - The IDs to be looked for in several SLS. Mostly there are none, which the size
 *   of the whole tells afterwards: then nobody needs to know all IDs beforehand.
 */
const gatherWith = (
  tree: SlsTree,
  options: GatherOptions,
  shared: (parts: Iterable<Part>) => ReadonlySet<DataKey>,
): Gathered & { readonly unique: boolean } => {
  const order = { next: 10_000 };
  const reading: Reading = { auto: options.autoOrder, split: splitter(), complete: true };
  const parts = ownParts(tree, reading);
  const claimed = shared(parts.values());
  const whole = newPart();
  for (const { asked, saltenv, loaded } of tree) {
    if (!('sls' in loaded)) {
      whole.problems.push(loaded);
      continue;
    }
    const part = flatten(loaded, parts, claimed, order);
    const { problems } = part;
    mergeIn(whole, part, problems);
    whole.problems.push(...problems.map(one => renameMissing(one, asked, saltenv)));
  }
  const { complete } = reading;
  return { ...assemble(whole), problems: whole.problems, complete };
};

/** A root SLS that is missing is named as it was asked for. */
const renameMissing = (one: Problem, asked: string, saltenv: string): Problem =>
  one.message.includes('is not available') && one.message.includes(`SLS ${asked} in saltenv`)
    ? { ...one, message: `No matching sls found for '${asked}' in env '${saltenv}'` }
    : one;

type Order = { next: number };

/** How states are read: with numbers for their order or without, function names once each. */
type Reading = {
  readonly auto: boolean;
  readonly split: (name: string) => readonly [module: string, fun: string];
  /** No state was found that names no function. */
  complete: boolean;
};

/** Thousands of states share a dozen functions: the parts of a name are the same two texts. */
const splitter = (): Reading['split'] => {
  const known = new Map<string, readonly [string, string]>();
  return name => {
    let parts = known.get(name);
    if (!parts) {
      const [module, fun = ''] = splitFunctionName(name);
      parts = [module, fun];
      known.set(name, parts);
    }
    return parts;
  };
};

/** What one SLS declares, and the parts of what it includes. */
type Part = {
  /** In order of definition, beside each ID its body. */
  readonly ids: DataKey[];
  readonly bodies: Data[];
  readonly extend: Data[];
  exclude: Data[] | undefined;
  readonly included: Part[];
  /** The IDs that stand in several SLS of the run, as this part has them. */
  readonly claims: Map<DataKey, Data>;
  /** The `order` arguments to be numbered when its turn comes. */
  readonly orders: Dict[];
  readonly problems: Problem[];
};

const newPart = (): Part => ({
  ids: [],
  bodies: [],
  extend: [],
  exclude: undefined,
  included: [],
  claims: new Map(),
  orders: [],
  problems: [],
});

const ownParts = (tree: SlsTree, reading: Reading): Map<LoadedSls, Part> => {
  const parts = new Map<LoadedSls, Part>();
  const open = tree.map(({ loaded }) => loaded);
  for (let one = open.pop(); one; one = open.pop()) {
    if (!('sls' in one)) continue;
    parts.set(one, ownPart(one, reading));
    open.push(...one.includes);
  }
  return parts;
};

const sharedIds = (parts: Iterable<Part>): ReadonlySet<DataKey> => {
  const seen = new Set<DataKey>();
  const shared = new Set<DataKey>();
  for (const { ids } of parts)
    for (const id of ids) {
      if (seen.has(id)) shared.add(id);
      seen.add(id);
    }
  return shared;
};

type Frame = { readonly loaded: LoadedSls; readonly part: Part; next: number };

/** Includes first, each file's own states after them; without recursion, includes may be deep. */
const flatten = (
  root: LoadedSls,
  parts: ReadonlyMap<LoadedSls, Part>,
  shared: ReadonlySet<DataKey>,
  order: Order,
): Part => {
  const enter = (loaded: LoadedSls): Frame => {
    const part = parts.get(loaded) as Part;
    if (shared.size > 0)
      for (const [at, id] of part.ids.entries())
        if (shared.has(id)) part.claims.set(id, part.bodies[at] ?? null);
    return { loaded, part, next: 0 };
  };
  const stack: Frame[] = [enter(root)];
  for (;;) {
    const frame = stack.at(-1) as Frame;
    const include = frame.loaded.includes[frame.next];
    if (include !== undefined) {
      frame.next += 1;
      if ('sls' in include) stack.push(enter(include));
      else frame.part.problems.push(include);
      continue;
    }
    for (const own of frame.part.orders) own.set('order', order.next++);
    stack.pop();
    const parent = stack.at(-1);
    if (!parent) return frame.part;
    mergeIn(parent.part, frame.part, parent.part.problems);
    parent.part.problems.push(...frame.part.problems);
  }
};

/** Merges a part in; an ID that is already there is a conflict, and the newer stays. */
const mergeIn = (target: Part, part: Part, problems: Problem[]): void => {
  for (const [id, body] of part.claims) {
    const first = target.claims.get(id);
    if (first !== undefined) problems.push(conflict(id, first, body));
    target.claims.set(id, body);
  }
  target.included.push(part);
};

const assemble = (whole: Part): { readonly high: High; readonly unique: boolean } => {
  const high: High = new Map();
  const extend: Data[] = [];
  let exclude: Data[] | undefined;
  let states = 0;
  // Own states come first, then those of the includes in their order.
  const open = [whole];
  for (let part = open.pop(); part; part = open.pop()) {
    for (const [at, id] of part.ids.entries()) high.set(id, part.bodies[at] ?? null);
    states += part.ids.length;
    for (const extension of part.extend) extend.push(extension);
    if (part.exclude) exclude = [...(exclude ?? []), ...part.exclude];
    for (const inner of part.included.toReversed()) open.push(inner);
  }
  const unique = high.size === states;
  if (extend.length > 0) high.set('__extend__', withoutDuplicates(extend));
  if (exclude) high.set('__exclude__', exclude);
  return { high, unique };
};

const ownPart = (loaded: LoadedSls, reading: Reading): Part => {
  const part = newPart();
  part.problems.push(...loaded.problems, ...loaded.includeProblems);
  const { data } = loaded;
  if (!isDict(data)) return part;
  if (data.has('extend')) takeExtend(data, loaded, part);
  if (data.has('exclude')) takeExclude(data, loaded, part);
  const included = loaded.includeProblems.length === 0;
  for (const [id, body] of data)
    if (id !== 'extend' && id !== 'exclude' && !(included && id === 'include')) {
      part.ids.push(id);
      part.bodies.push(declare(id, body, data, loaded, part, reading));
    }
  return part;
};

const takeExtend = (source: Dict, loaded: LoadedSls, { extend, problems }: Part): void => {
  const written = source.get('extend') as Data;
  const at = placeOf([source], 'extend');
  if (!isDict(written)) {
    const message = `Extension value in SLS '${loaded.sls}' is not a dictionary`;
    problems.push(problem(message, at, 'extend: maps IDs to what is changed in them.'));
    return;
  }
  const extension = copyOf(written);
  for (const [id, body] of written) {
    if (!isDict(body)) {
      const message = `Extension name '${pyStr(id)}' in SLS '${loaded.sls}' is not a dictionary`;
      problems.push(problem(message, placeOf([source, written], id)));
      extension.delete(id);
      continue;
    }
    const copy = copyOf(body);
    setFile(copy, loaded.file ?? loaded.sls);
    addOrigin(copy, loaded);
    for (const [key, args] of body)
      if (isPlainKey(key) && Array.isArray(args)) splitFunction(copy, key, args);
    extension.set(id, copy);
  }
  extend.push(extension);
};

const takeExclude = (source: Dict, loaded: LoadedSls, part: Part): void => {
  const written = source.get('exclude') as Data;
  const at = placeOf([source], 'exclude');
  if (Array.isArray(written)) {
    part.exclude = [...written];
    return;
  }
  const message = `Exclude Declaration in SLS ${loaded.sls} is not formed as a list`;
  part.exclude = [];
  part.problems.push(problem(message, at, "List the SLS names, or '- id: …' for single IDs."));
};

const isPlainKey = (key: DataKey): key is string => typeof key === 'string' && !key.startsWith('_');

const addOrigin = (body: Dict, { sls, saltenv }: LoadedSls): void => {
  if (!body.has('__sls__')) body.set('__sls__', sls);
  if (!body.has('__env__')) body.set('__env__', saltenv);
};

/** `mod.fun: [args]` becomes `mod: [args, fun]`, at the end of the body. */
const splitFunction = (body: Dict, key: string, args: readonly Data[]): void => {
  if (!key.includes('.')) {
    body.set(key, [...args]);
    return;
  }
  const [module, fun] = splitFunctionName(key) as [string, string];
  body.delete(key);
  body.set(module, [...args, fun]);
};

const declare = (
  id: DataKey,
  body: Data,
  source: Dict,
  loaded: LoadedSls,
  { problems, orders }: Part,
  reading: Reading,
): Data => {
  const { sls, saltenv } = loaded;
  const { auto, split } = reading;
  const own = auto ? orders : undefined;
  if (typeof body === 'string' && body.includes('.')) {
    const [module, fun] = split(body);
    return new Map<DataKey, Data>()
      .set('__sls__', sls)
      .set('__env__', saltenv)
      .set(module, complete([], fun, own));
  }
  if (!isDict(body)) {
    const message = `ID ${pyStr(id)} in SLS ${sls} is not a dictionary`;
    const hint = 'Below an ID stands a state function: "pkg.installed: []", or "test.nop" alone.';
    problems.push(problem(message, placeOf([source], id), hint));
    return body;
  }
  const copy = emptyCopyOf(body);
  setFile(copy, loaded.file ?? sls);
  for (const key of body.keys()) {
    const args = body.get(key) as Data;
    if (Array.isArray(args) && !(isPlainKey(key) && key.includes('.')))
      reading.complete &&= args.some(arg => typeof arg === 'string');
    if (!isPlainKey(key) || !Array.isArray(args)) copy.set(key, args);
    else if (!key.includes('.')) copy.set(key, complete(args, undefined, own));
  }
  // In order of definition; modules written without a function count from the start.
  for (const key of body.keys()) {
    const args = body.get(key);
    if (!isPlainKey(key) || !key.includes('.') || !Array.isArray(args)) continue;
    const [module, fun] = split(key);
    if (copy.has(module)) {
      const message = `ID '${pyStr(id)}' in SLS '${sls}' contains multiple state declarations of the same type`;
      problems.push(problem(message, placeOf([source, body], key), 'Give each its own ID.'));
      copy.set(key, complete(args, undefined, own));
      continue;
    }
    copy.set(module, complete(args, fun, own));
  }
  addOrigin(copy, loaded);
  return copy;
};

/** The arguments with the function and, where none is written, an `order` to be numbered. */
const complete = (args: Data[], fun: string | undefined, orders: Dict[] | undefined): Data[] => {
  const order = orders && !hasOrder(args) ? (new Map() as Dict) : undefined;
  if (order) orders?.push(order);
  // `concat` makes lists of just the size: `push` and spreading reserve room for a dozen more.
  if (fun === undefined) return order ? args.concat(order) : args.concat();
  return order ? args.concat(fun, order) : args.concat(fun);
};

const hasOrder = (args: readonly Data[]): boolean => {
  for (const arg of args) if (isDict(arg) && firstKey(arg) === 'order') return true;
  return false;
};

const conflict = (id: DataKey, first: Data, second: Data): Problem => {
  const origin = (body: Data): string =>
    isDict(body)
      ? `${pyStr(body.get('__env__') ?? null)}:${pyStr(body.get('__sls__') ?? null)}`
      : '?';
  const message =
    'Detected conflicting IDs, SLS IDs need to be globally unique.\n' +
    `    The conflicting ID is '${pyStr(id)}' and is found in SLS ` +
    `'${origin(first)}' and SLS '${origin(second)}'`;
  return problem(message, placeOf([second]), 'Rename one of them.');
};

/** Extensions one ID each, the same one only once. */
const withoutDuplicates = (extensions: readonly Data[]): Data[] => {
  const seen = new Set<string>();
  const unique: Data[] = [];
  for (const extension of extensions)
    for (const [id, body] of isDict(extension) ? extension : []) {
      const text = canonical([id, body]);
      if (seen.has(text)) continue;
      seen.add(text);
      unique.push(new Map([[id, body]]));
    }
  return unique;
};
