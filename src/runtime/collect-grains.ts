import { getContext, withContext } from '../modules/api.ts';
import { isPlainDict, type PlainDict } from '../protocol/plain.ts';
import { toJson } from './engine/check-return.ts';
import type { FullRegistry, LoadedModule } from './registry.ts';
import { isFunction, publicNames } from './virtual.ts';

/**
 * What the grains modules say about this host: every public function gives some. Later modules
 * win: core first, then the others and the user's, then what the administrator wrote down.
 * A function sees as `__grains__` what is known before it; one that fails costs only its own grains.
 */
export const collectGrains = async (
  registry: FullRegistry,
  warn: (message: string) => void,
): Promise<PlainDict> => {
  const grains: PlainDict = {};
  const { modules, failures } = await registry.all('grains');
  for (const { name, path, reason } of failures)
    warn(`The grains module ${name} (${path}) was left out: ${reason}`);
  const context = { ...getContext(), grains };
  for (const module of [...modules].sort((a, b) => rank(a) - rank(b)))
    for (const name of publicNames(module.exports))
      try {
        const found: unknown = await withContext(context, () => grainsOf(module, name));
        if (isPlainDict(found)) Object.assign(grains, toJson(found));
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        warn(`The grains of ${module.name}.${name} could not be read: ${why}`);
      }
  return grains;
};

const grainsOf = ({ exports }: LoadedModule, name: string): unknown => {
  const fun = exports[name];
  return isFunction(fun) ? fun() : undefined;
};

const rank = ({ name }: LoadedModule): number =>
  name.startsWith('core') ? 0 : name === 'static_grains' ? 2 : 1;
