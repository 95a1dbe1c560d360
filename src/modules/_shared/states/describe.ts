import { isPlainDict } from '../../../protocol/plain.ts';
import type { PlainDict } from '../../api.ts';

/**
 * The result of a state module's `describe`: states by ID, each as in an SLS
 * (spec/idem-contracts: "Resource").
 */
export type Description = { [id: string]: { [fun: string]: PlainDict[] } };

/** One state of a description; arguments that are undefined are left out. */
export const describedState = (
  fun: string,
  args: { readonly [name: string]: PlainDict[string] | undefined },
): { [fun: string]: PlainDict[] } => ({
  [fun]: Object.entries(args).flatMap(([key, value]) =>
    value === undefined ? [] : [{ [key]: value }],
  ),
});

/** Words that mean something else than an ID at the top of an SLS. */
const reserved = new Set(['include', 'exclude', 'extend']);

/**
 * Adds the states that one module describes. An ID that is not allowed, or that already has a state
 * of this module, is replaced and kept as the argument `name`.
 */
export const addDescription = (all: Description, more: Description): void => {
  for (const [id, states] of Object.entries(more))
    for (const [fun, args] of Object.entries(states)) {
      const at = freeId(all, id, moduleOf(fun));
      const named = at === id || args.some(arg => 'name' in arg) ? args : [{ name: id }, ...args];
      all[at] = { ...(Object.hasOwn(all, at) ? all[at] : {}), [fun]: named };
    }
};

const moduleOf = (fun: string): string => fun.slice(0, fun.lastIndexOf('.'));

const freeId = (all: Description, id: string, module: string): string => {
  const isFree = (candidate: string): boolean =>
    !Object.hasOwn(all, candidate) ||
    !Object.keys(all[candidate] ?? {}).some(fun => moduleOf(fun) === module);
  if (isFree(id) && !reserved.has(id) && !id.startsWith('__')) return id;
  for (let count = 1; ; count++) {
    const candidate = count === 1 ? `${module} ${id}` : `${module} ${id} ${count}`;
    if (isFree(candidate)) return candidate;
  }
};

/** Returns why a description is malformed; undefined when it is well-formed. */
export const findDescriptionFault = (value: unknown): string | undefined => {
  if (!isPlainDict(value)) return `describe() must return a dictionary of states by ID`;
  for (const [id, states] of Object.entries(value)) {
    if (!isPlainDict(states))
      return `'${id}' must be a dictionary of states, such as { 'file.managed': [ … ] }`;
    for (const [fun, args] of Object.entries(states)) {
      if (!/[^.]\.[^.]/.test(fun)) return `'${fun}' of '${id}' must be a state and its function`;
      if (!Array.isArray(args))
        return `the arguments of '${fun}' of '${id}' must be a list of { name: value }`;
      if (!args.every(arg => isPlainDict(arg) && Object.keys(arg).length === 1))
        return `each argument of '${fun}' of '${id}' must be a dictionary with one key`;
    }
  }
  return undefined;
};
