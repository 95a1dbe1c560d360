import { getContext, withContext } from '../modules/api.ts';
import { messageOf } from '../protocol/error.ts';
import type { LogLevel } from '../protocol/job.ts';
import { isPlainDict, type PlainDict, setOwn } from '../protocol/plain.ts';
import { positionsOf, type StackPosition } from '../protocol/stack.ts';
import { copyViews } from '../protocol/views.ts';
import { toJson } from './engine/check-return.ts';
import type { FullRegistry, LoadedModule } from './registry.ts';
import { findFunction, publicNames } from './virtual.ts';

export type GrainsLog = (
  level: LogLevel,
  message: string,
  stack?: readonly StackPosition[],
) => void;

/**
 * Collects the grains of this host from all public functions of the grains modules. Later modules
 * override earlier ones: first core, then the other built-in ones and the user's, then the
 * administrator's files. A function sees the grains collected so far as `__grains__`; if it fails,
 * only its own grains are missing.
 */
export const collectGrains = async (registry: FullRegistry, log: GrainsLog): Promise<PlainDict> => {
  const grains: PlainDict = {};
  const { modules, failures } = await registry.all('grains');
  for (const { name, path, reason, declined, cause } of failures)
    log(
      declined ? 'debug' : 'warning',
      `The grains module ${name} (${path}) was left out: ${reason}`,
      positionsOf(cause),
    );
  const context = { ...getContext(), grains };
  for (const module of [...modules].sort((a, b) => rank(a) - rank(b)))
    for (const name of publicNames(module.exports))
      try {
        const found: unknown = await withContext(context, () => grainsOf(registry, module, name));
        if (isPlainDict(found))
          for (const [key, value] of Object.entries(toJson(found) as PlainDict))
            setOwn(grains, key, value);
      } catch (error) {
        const why = messageOf(error);
        log(
          'warning',
          `The grains of ${module.name}.${name} could not be read: ${why}`,
          positionsOf(error),
        );
      }
  return grains;
};

const grainsOf = async (
  { salt }: FullRegistry,
  { exports }: LoadedModule,
  name: string,
): Promise<unknown> => {
  const found = await findFunction(exports, name, other => other in salt);
  return found.ok ? copyViews(await found.fun()) : undefined;
};

const rank = ({ name }: LoadedModule): number =>
  name.startsWith('core') ? 0 : name === 'static_grains' ? 2 : 1;
