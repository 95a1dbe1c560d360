import type { LowChunk } from '../../protocol/low.ts';
import type { ModuleMeta } from '../../protocol/meta.ts';

/**
 * Whether no state of a run reads grains, unless a function that it calls does. Conditions are run
 * by the shell that grains name.
 *
 * @param modules those of the artifact
 */
export const needNoGrains = (
  chunks: readonly LowChunk[],
  modules: readonly ModuleMeta[],
): boolean => {
  const isGrainless = grainlessIn(modules);
  return chunks.every(
    chunk =>
      isGrainless(chunk.state, chunk.fun) && !conditions.some(name => Object.hasOwn(chunk, name)),
  );
};

const conditions = ['onlyif', 'unless', 'creates', 'check_cmd'];

/** By modules, which all hosts of a run have in common, and by state: functions that need no grains. */
const known = new WeakMap<readonly ModuleMeta[], Map<string, ReadonlySet<string>>>();

const grainlessIn = (modules: readonly ModuleMeta[]) => {
  const states = known.get(modules) ?? new Map<string, ReadonlySet<string>>();
  known.set(modules, states);
  return (state: string, fun: string): boolean => {
    const functions = states.get(state) ?? new Set(findGrainless(modules, state));
    states.set(state, functions);
    return functions.has(fun);
  };
};

/** Returns the functions of a state that need no grains, if just one module has its name. */
const findGrainless = (modules: readonly ModuleMeta[], state: string): string[] => {
  const [module, other] = modules.filter(
    ({ kind, file, virtualname, virtual = [] }) =>
      kind === 'state' && [file, virtualname, ...virtual].includes(state),
  );
  if (!module?.builtin || other) return [];
  const { functions, hooks = [] } = module;
  if (!hooks.every(({ needsNoGrains }) => needsNoGrains)) return [];
  return functions.filter(({ needsNoGrains }) => needsNoGrains).map(({ name }) => name);
};
