import { splitFunctionName } from '../data/function-name.ts';
import { pyStr } from '../data/python-text.ts';
import type { Data, DataKey, Dict } from '../data/value.ts';
import { isDict } from '../data/value.ts';
import { copyOf, emptyCopyOf, firstKey, placeOf, problem, setFile } from './high.ts';
import type { LoadedSls } from './load.ts';
import type { Problem } from './problem.ts';

/** What one SLS declares, and the parts of what it includes. */
export type Part = {
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

export const newPart = (): Part => ({
  ids: [],
  bodies: [],
  extend: [],
  exclude: undefined,
  included: [],
  claims: new Map(),
  orders: [],
  problems: [],
});

/** How states are read: with numbers for their order or without, function names once each. */
export type Reading = {
  readonly auto: boolean;
  readonly split: (name: string) => readonly [module: string, fun: string];
  /** No state was found that names no function. */
  complete: boolean;
};

/** Thousands of states share a dozen functions: the parts of a name are the same two texts. */
export const splitter = (): Reading['split'] => {
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

/** An SLS alone, its short forms written out. */
export const ownPart = (loaded: LoadedSls, reading: Reading): Part => {
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
