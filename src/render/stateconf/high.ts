import { type Data, type Dict, isDict } from '../../data/values/value.ts';

/** One state as written in an SLS: `id`, the whole declaration, `pkg.installed`, its arguments. */
export type Declared = {
  readonly id: string;
  readonly states: Dict;
  readonly name: string;
  readonly args: Data[];
};

const notStates = ['include', 'exclude', 'extend'];

/** Returns the states of an SLS, or of its `extend`, in order. */
export const declaredIn = (data: Dict): Declared[] =>
  [...data].flatMap(([key, states]) => {
    const id = String(key);
    if (id.startsWith('__') || notStates.includes(id) || !isDict(states)) return [];
    return [...states].flatMap(([name, args]) =>
      String(name).startsWith('__') || !Array.isArray(args)
        ? []
        : [{ id, states, name: String(name), args }],
    );
  });

/** Returns `pkg` for `pkg.installed`. */
export const moduleOf = (name: string): string => name.split('.', 1)[0] ?? name;

export type StatePair = { readonly item: Dict; readonly key: string; readonly value: Data };

/** Returns the `key: value` pairs in a list of arguments, for some keys or all. */
export const statePairs = (args: Data, keys?: readonly string[]): StatePair[] =>
  (Array.isArray(args) ? args : []).flatMap(item => {
    const [pair] = isDict(item) ? item : [];
    if (!isDict(item) || !pair) return [];
    const key = String(pair[0]);
    return keys === undefined || keys.includes(key) ? [{ item, key, value: pair[1] }] : [];
  });

/** Returns the references inside requisites: `{pkg: nginx}` as `key` and `value`. */
export const referencesOf = (args: Data, requisites: readonly string[]): StatePair[] =>
  statePairs(args, requisites).flatMap(({ value }) => statePairs(value));

/** The names that every requisite has, and those that exist only in `_in` form. */
export const forward = ['require', 'watch', 'listen', 'onchanges', 'onfail'];
export const backward = forward.map(name => `${name}_in`);
