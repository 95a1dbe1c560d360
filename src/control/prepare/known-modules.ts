import { buildArtifact } from '../../bundle/artifact.ts';
import type { Config } from '../../config/config.ts';
import { moduleFolders } from '../../config/module-dirs.ts';
import type { ModuleMeta } from '../../protocol/meta.ts';
import { controlFunctions, wrapperModules } from '../../wrapper/table.ts';

/**
 * Returns every module that a run could call: those of the artifact, the user's included, and those
 * of the control node. Makes no connection.
 */
export const knownModules = async (config: Config): Promise<readonly ModuleMeta[]> => {
  const artifact = await buildArtifact({
    ...moduleFolders(config),
    controlFunctions: controlFunctions(),
  });
  return [...artifact.modules, ...wrapperModules()];
};
