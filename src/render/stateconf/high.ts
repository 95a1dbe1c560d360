import { type Data, type Dict, isDict } from '../../data/values/value.ts';

/** One state of an SLS, as it is written: `id`, the whole declaration, `pkg.installed`, its arguments. */
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

/** `pkg` of `pkg.installed`. */
export const moduleOf = (name: string): string => name.split('.', 1)[0] ?? name;

export type StatePair = { readonly item: Dict; readonly key: string; readonly value: Data };

/** The `key: value` of a list of arguments, of some keys or all. */
export const statePairs = (args: Data, keys?: readonly string[]): StatePair[] =>
  (Array.isArray(args) ? args : []).flatMap(item => {
    const [pair] = isDict(item) ? item : [];
    if (!isDict(item) || !pair) return [];
    const key = String(pair[0]);
    return keys === undefined || keys.includes(key) ? [{ item, key, value: pair[1] }] : [];
  });

/** The references inside of some requisites: `{pkg: nginx}` as `key` and `value`. */
export const referencesOf = (args: Data, requisites: readonly string[]): StatePair[] =>
  statePairs(args, requisites).flatMap(({ value }) => statePairs(value));

/** The part that every requisite has, and the part that only its `_in` form has. */
export const forward = ['require', 'watch', 'listen', 'onchanges', 'onfail'];
export const backward = forward.map(name => `${name}_in`);
