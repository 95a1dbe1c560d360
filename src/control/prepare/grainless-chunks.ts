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
  const states = modules.filter(({ kind }) => kind === 'state');
  const known = new Map<string, boolean>();
  return chunks.every(chunk => {
    const { state, fun } = chunk;
    if (conditions.some(name => Object.hasOwn(chunk, name))) return false;
    const name = `${state}.${fun}`;
    const isKnown = known.get(name) ?? isGrainless(states, state, fun);
    known.set(name, isKnown);
    return isKnown;
  });
};

const conditions = ['onlyif', 'unless', 'creates', 'check_cmd'];

const isGrainless = (states: readonly ModuleMeta[], state: string, fun: string): boolean => {
  const [module, other] = states.filter(({ file, virtualname, virtual = [] }) =>
    [file, virtualname, ...virtual].includes(state),
  );
  if (!module?.builtin || other) return false;
  const { functions, hooks = [] } = module;
  return [functions.find(({ name }) => name === fun), ...hooks].every(
    found => found?.needsNoGrains === true,
  );
};
