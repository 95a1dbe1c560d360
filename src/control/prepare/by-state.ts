import type { ModuleMeta } from '../../protocol/meta.ts';

/** Finds something once for the modules, which all hosts of a run have in common, and each state. */
export const byState = <Found>(
  find: (modules: readonly ModuleMeta[], state: string) => Found,
): typeof find => {
  const known = new WeakMap<readonly ModuleMeta[], Map<string, Found>>();
  return (modules, state) => {
    const states = known.get(modules) ?? new Map<string, Found>();
    known.set(modules, states);
    const found = states.get(state) ?? find(modules, state);
    states.set(state, found);
    return found;
  };
};
