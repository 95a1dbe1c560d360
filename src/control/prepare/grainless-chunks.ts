import type { LowChunk } from '../../protocol/low.ts';
import type { ModuleMeta } from '../../protocol/meta.ts';
import { byState } from './by-state.ts';

/**
 * Whether no state of a run reads grains, unless a function that it calls does. Conditions are run
 * by the shell that grains name.
 *
 * @param modules those of the artifact
 */
export const needNoGrains = (
  chunks: readonly LowChunk[],
  modules: readonly ModuleMeta[],
): boolean =>
  chunks.every(
    chunk =>
      grainlessOf(modules, chunk.state).has(chunk.fun) &&
      !conditions.some(name => Object.hasOwn(chunk, name)),
  );

const conditions = ['onlyif', 'unless', 'creates', 'check_cmd'];

/** The functions of a state that need no grains, if just one module has its name. */
const grainlessOf = byState((modules, state): ReadonlySet<string> => {
  const [module, other] = modules.filter(
    ({ kind, file, virtualname, virtual = [] }) =>
      kind === 'state' && [file, virtualname, ...virtual].includes(state),
  );
  if (!module?.builtin || other) return new Set();
  const { functions, hooks = [] } = module;
  if (!hooks.every(({ needsNoGrains }) => needsNoGrains)) return new Set();
  return new Set(functions.filter(({ needsNoGrains }) => needsNoGrains).map(({ name }) => name));
});
