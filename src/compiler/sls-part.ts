import { pyStr } from '../data/python/python-text.ts';
import { splitFunctionName } from '../data/signatures/function-name.ts';
import type { Data, DataKey, Dict } from '../data/values/value.ts';
import { isDict } from '../data/values/value.ts';
import type { StateOrigin } from './high.ts';
import { firstKey, IdDeclaration, isOrigin, type StateDeclaration, stateOriginOf } from './high.ts';
import { headerTags } from './include-tags.ts';
import type { LoadedSls } from './load.ts';
import { copyOf, locationOf, setFile } from './location.ts';
import type { Problem } from './problem.ts';
import { problem } from './problem.ts';

/** The declarations of one SLS, and the parts of its includes. */
export type Part = {
  /** In order of definition. */
  readonly ids: IdDeclaration[];
  readonly extend: Data[];
  exclude: Data[] | undefined;
  readonly included: Part[];
  /** The IDs that occur in several SLS of the run, as this part declares them. */
  readonly claims: Map<DataKey, IdDeclaration>;
  /** States to number when the part's turn comes: their arguments do not set an order. */
  readonly unordered: StateDeclaration[];
  readonly problems: Problem[];
};

export const newPart = (): Part => ({
  ids: [],
  extend: [],
  exclude: undefined,
  included: [],
  claims: new Map(),
  unordered: [],
  problems: [],
});

/** How states are read: with or without order numbers, and with shared function names. */
export type StateReading = {
  readonly auto: boolean;
  readonly split: (name: string) => readonly [module: string, fun: string];
};

/**
 * Splits names of functions, each once: thousands of states share a dozen functions, so they share
 * the two strings.
 */
export const splitter = (): StateReading['split'] => {
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

/** Returns the part of one SLS, with its short forms expanded. */
export const slsPart = (loaded: LoadedSls, reading: StateReading): Part => {
  const part = newPart();
  part.problems.push(...loaded.problems, ...loaded.includeProblems);
  const { data } = loaded;
  if (!isDict(data)) return part;
  if (data.has('extend')) takeExtend(data, loaded, part);
  if (data.has('exclude')) takeExclude(data, loaded, part);
  const included = loaded.includeProblems.length === 0;
  const { sls, saltenv: env, file = sls, trace } = loaded;
  const header = headerTags(data);
  const tags = [...(header ?? []), ...(loaded.tags ?? [])];
  const origin = { sls, env, file, trace, data, ...(tags.length > 0 ? { tags } : {}) };
  const place: Place = { source: data, origin, part, reading };
  for (const [id, body] of data)
    if (
      id !== 'extend' &&
      id !== 'exclude' &&
      !(included && id === 'include') &&
      !(header && id === 'tags')
    )
      part.ids.push(declare(id, body, place));
  return part;
};

const takeExtend = (source: Dict, loaded: LoadedSls, { extend, problems }: Part): void => {
  const written = source.get('extend') as Data;
  const at = locationOf([source], 'extend');
  if (!isDict(written)) {
    const message = `Extension value in SLS '${loaded.sls}' is not a dictionary`;
    problems.push(problem(message, at, 'extend: maps IDs to what is changed in them.'));
    return;
  }
  const extension = copyOf(written);
  for (const [id, body] of written) {
    if (!isDict(body)) {
      const message = `Extension name '${pyStr(id)}' in SLS '${loaded.sls}' is not a dictionary`;
      problems.push(problem(message, locationOf([source, written], id)));
      extension.delete(id);
      continue;
    }
    const copy = copyOf(body);
    setFile(copy, loaded.file ?? loaded.sls, loaded.trace);
    addOrigin(copy, loaded);
    for (const [key, args] of body)
      if (isPlainKey(key) && Array.isArray(args)) splitFunction(copy, key, args);
    extension.set(id, copy);
  }
  extend.push(extension);
};

const takeExclude = (source: Dict, loaded: LoadedSls, part: Part): void => {
  const written = source.get('exclude') as Data;
  const at = locationOf([source], 'exclude');
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

/** Converts `mod.fun: [args]` to `mod: [args, fun]`, at the end of the body. */
const splitFunction = (body: Dict, key: string, args: readonly Data[]): void => {
  if (!key.includes('.')) {
    body.set(key, [...args]);
    return;
  }
  const [module, fun] = splitFunctionName(key) as [string, string];
  body.delete(key);
  body.set(module, [...args, fun]);
};

/** The mapping in which IDs are declared, and the collections for what is found. */
type Place = {
  readonly source: Dict;
  readonly origin: StateOrigin;
  readonly part: Part;
  readonly reading: StateReading;
};

const declare = (id: DataKey, body: Data, place: Place): IdDeclaration => {
  const { source, origin, part, reading } = place;
  if (typeof body === 'string' && body.includes('.')) {
    const declaration = new IdDeclaration(id, body, origin, null);
    const [module, fun] = reading.split(body);
    addOrdered(declaration, place, module, [], fun);
    return declaration;
  }
  if (!isDict(body)) {
    const message = `ID ${pyStr(id)} in SLS ${pyStr(origin.sls ?? null)} is not a dictionary`;
    const hint = 'Below an ID stands a state function: "pkg.installed: []", or "test.nop" alone.';
    part.problems.push(problem(message, locationOf([source], id), hint));
    return new IdDeclaration(id, body, origin);
  }
  const declaration = new IdDeclaration(id, body, stateOriginOf(body, origin), null);
  addStates(declaration, body, place);
  return declaration;
};

/**
 * Adds states in order of definition; modules without a function count from the start. As in Salt,
 * if such a module follows the same one with a function, the latter replaces it.
 */
const addStates = (declaration: IdDeclaration, body: Dict, place: Place): void => {
  if (body.size > 1) {
    for (const [module, { args, fun }] of placed(declaration, body, place))
      addState(declaration, place, module, args, fun);
    return;
  }
  for (const entry of body) {
    const [key, args] = entry;
    const [module, fun] = isShort(entry) ? place.reading.split(entry[0]) : [key];
    if (!isOrigin(module)) addState(declaration, place, module, args, fun);
  }
};

const addState = (
  declaration: IdDeclaration,
  place: Place,
  module: DataKey,
  args: Data,
  fun?: string,
): void => {
  if (isPlainKey(module) && Array.isArray(args)) addOrdered(declaration, place, module, args, fun);
  else declaration.add(module, args);
};

type Written = { readonly args: Data; readonly fun?: string };

/** Returns the states of an ID by their modules. */
const placed = (
  { id }: IdDeclaration,
  body: Dict,
  { source, origin, part, reading }: Place,
): ReadonlyMap<DataKey, Written> => {
  const states = new Map<DataKey, Written>();
  for (const [key, args] of body) if (!isOrigin(key)) states.set(key, { args });
  const taken = new Set<DataKey>();
  for (const key of [...states.keys()]) {
    const { args } = states.get(key) as Written;
    if (!isShort([key, args])) {
      if (Array.isArray(args)) taken.add(key);
      continue;
    }
    const [module, fun] = reading.split(key as string);
    if (taken.has(module)) {
      const message = `ID '${pyStr(id)}' in SLS '${pyStr(origin.sls ?? null)}' contains multiple state declarations of the same type`;
      part.problems.push(
        problem(message, locationOf([source, body], key), 'Give each its own ID.'),
      );
      continue;
    }
    states.delete(key);
    states.set(module, { args, fun });
    taken.add(module);
  }
  return states;
};

/** `module.function: [arguments]`. */
const isShort = (entry: readonly [DataKey, Data]): entry is readonly [string, Data[]] =>
  isPlainKey(entry[0]) && Array.isArray(entry[1]) && entry[0].includes('.');

/** Adds a state; it gets an order number unless it sets an order. */
const addOrdered = (
  declaration: IdDeclaration,
  { part, reading }: Place,
  module: DataKey,
  args: Data[],
  fun?: string,
): void => {
  const plain = args.every(isPlainArgument);
  const state = declaration.add(module, args, plain ? 'plain' : 'written', fun);
  if (reading.auto && (plain || !hasOrder(args))) part.unordered.push(state);
};

const isPlainArgument = (arg: Data): boolean => {
  if (!isDict(arg) || arg.size !== 1) return false;
  const key = firstKey(arg);
  return key !== 'names' && key !== 'order' && key !== 'name_order';
};

const hasOrder = (args: readonly Data[]): boolean => {
  for (const arg of args) if (isDict(arg) && firstKey(arg) === 'order') return true;
  return false;
};
