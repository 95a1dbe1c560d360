import { existsSync } from 'node:fs';
import { grainsFileOf } from '../modules/grains/grains-file-path.ts';

/**
 * Whether a runtime says hello without grains. A host with a grains file sends its grains in any
 * case before states run: they may forbid states (`state_runs_disabled`).
 *
 * @param kind as `RuntimeKind` of `loader/config.ts`
 * @param file the grains file
 */
export const startsWithoutGrains = (kind: string | undefined, file = grainsFileOf({})): boolean =>
  kind === 'lazy' || (kind === 'state-lazy' && !existsSync(file));
