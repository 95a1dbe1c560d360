import { pyStr } from '../data/python/python-text.ts';
import { canonical } from '../data/values/canonical.ts';
import type { Data, DataKey } from '../data/values/value.ts';
import { isDict } from '../data/values/value.ts';
import type { High, IdDeclaration } from './high.ts';
import { newHigh } from './high.ts';
import type { LoadedSls, SlsTree } from './load.ts';
import { locationOf } from './location.ts';
import type { Problem } from './problem.ts';
import { problem } from './problem.ts';
import { newPart, type Part, type StateReading, slsPart, splitter } from './sls-part.ts';

export type GatherOptions = {
  /** `state_auto_order`: order of definition, unless something else decides. */
  readonly autoOrder: boolean;
};

export type Gathered = {
  readonly high: High;
  readonly problems: readonly Problem[];
};

/**
 * Merges all SLS to one body of high data: expands short forms, adds `__sls__`/`__env__` and order
 * numbers, sets extends and excludes aside, checks that IDs are unique.
 * (salt.state.BaseHighState.render_highstate)
 */
export const gather = (tree: SlsTree, options: GatherOptions): Gathered => {
  const gathered = gatherWith(tree, options, () => noIds);
  return gathered.unique ? gathered : gatherWith(tree, options, sharedIds);
};

const noIds: ReadonlySet<DataKey> = new Set();

/**
 * @param shared - The IDs to be searched in several SLS. Usually there are none; comparing the size
 *   of the result shows this afterwards, so IDs need not be collected beforehand.
 */
const gatherWith = (
  tree: SlsTree,
  options: GatherOptions,
  shared: (parts: Iterable<Part>) => ReadonlySet<DataKey>,
): Gathered & { readonly unique: boolean } => {
  const order = { next: 10_000 };
  const reading: StateReading = { auto: options.autoOrder, split: splitter() };
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
  return { ...assemble(whole), problems: whole.problems };
};

/** Names a missing root SLS as the user wrote it. */
const renameMissing = (one: Problem, asked: string, saltenv: string): Problem =>
  one.message.includes('is not available') && one.message.includes(`SLS ${asked} in saltenv`)
    ? {
        ...one,
        message: `No matching sls found for '${asked}' in env '${saltenv}'`,
        sentence: undefined,
      }
    : one;

type Order = { next: number };

const ownParts = (tree: SlsTree, reading: StateReading): Map<LoadedSls, Part> => {
  const parts = new Map<LoadedSls, Part>();
  const open = tree.map(({ loaded }) => loaded);
  for (let one = open.pop(); one; one = open.pop()) {
    if (!('sls' in one)) continue;
    parts.set(one, slsPart(one, reading));
    open.push(...one.includes);
  }
  return parts;
};

const sharedIds = (parts: Iterable<Part>): ReadonlySet<DataKey> => {
  const seen = new Set<DataKey>();
  const shared = new Set<DataKey>();
  for (const { ids } of parts)
    for (const { id } of ids) {
      if (seen.has(id)) shared.add(id);
      seen.add(id);
    }
  return shared;
};

type Frame = { readonly loaded: LoadedSls; readonly part: Part; next: number };

/**
 * Flattens the tree: includes first, then each file's own states. Not recursive, as includes may be
 * deep.
 */
const flatten = (
  root: LoadedSls,
  parts: ReadonlyMap<LoadedSls, Part>,
  shared: ReadonlySet<DataKey>,
  order: Order,
): Part => {
  const enter = (loaded: LoadedSls): Frame => {
    const part = parts.get(loaded) as Part;
    if (shared.size > 0)
      for (const declaration of part.ids)
        if (shared.has(declaration.id)) part.claims.set(declaration.id, declaration);
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
    for (const state of frame.part.unordered) state.order = order.next++;
    stack.pop();
    const parent = stack.at(-1);
    if (!parent) return frame.part;
    mergeIn(parent.part, frame.part, parent.part.problems);
    parent.part.problems.push(...frame.part.problems);
  }
};

/** Merges a part. An ID that already exists is a conflict, and the newer one is kept. */
const mergeIn = (target: Part, part: Part, problems: Problem[]): void => {
  for (const [id, declaration] of part.claims) {
    const first = target.claims.get(id);
    if (first) problems.push(conflict(first, declaration));
    target.claims.set(id, declaration);
  }
  target.included.push(part);
};

const assemble = (whole: Part): { readonly high: High; readonly unique: boolean } => {
  const high = newHigh();
  const extend: Data[] = [];
  let states = 0;
  // Own states come first, then those of the includes in their order.
  const open = [whole];
  for (let part = open.pop(); part; part = open.pop()) {
    for (const declaration of part.ids) high.ids.set(declaration.id, declaration);
    states += part.ids.length;
    for (const extension of part.extend) extend.push(extension);
    if (part.exclude) high.exclude = [...(high.exclude ?? []), ...part.exclude];
    for (const inner of part.included.toReversed()) open.push(inner);
  }
  const unique = high.ids.size === states;
  if (extend.length > 0) high.extend = withoutDuplicates(extend);
  return { high, unique };
};

const conflict = (first: IdDeclaration, second: IdDeclaration): Problem => {
  const origin = ({ first, origin: { sls = null, env = null } }: IdDeclaration): string =>
    first !== undefined ? `${pyStr(env)}:${pyStr(sls)}` : '?';
  const message =
    'Detected conflicting IDs, SLS IDs need to be globally unique.\n' +
    `    The conflicting ID is '${pyStr(second.id)}' and is found in SLS ` +
    `'${origin(first)}' and SLS '${origin(second)}'`;
  return problem(
    message,
    locationOf([second, second.origin.data], second.id),
    'Rename one of them.',
  );
};

/** Returns the extensions, one ID each, without duplicates. */
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
