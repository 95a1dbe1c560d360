import type { ControlModule } from '../bundle/control-modules.ts';
import type { Config } from '../config/config.ts';
import { moduleFolders } from '../config/module-dirs.ts';
import type { Format } from '../output/format.ts';
import { dataByHost } from '../output/result.ts';
import { messageOf, TsaltError } from '../protocol/error.ts';
import { bounded, Ended } from '../render/ts/bounded.ts';

/**
 * Loads custom outputters: `_outputters/NAME.ts` in a file root exports
 * `output(data, options)`, where `data` holds the results of the hosts, by id.
 *
 * @returns a function that returns `undefined` for an unknown name
 */
export const userFormats =
  (config: Config) =>
  async (name: string): Promise<Format | undefined> => {
    const { loadControlModules } = await import('../bundle/control-modules.ts');
    const modules = await loadControlModules(moduleFolders(config));
    const found = modules.find(module => module.kind === 'outputters' && module.name === name);
    return found && formatOf(found);
  };

const formatOf = (module: ControlModule): Format => {
  const output = load(module);
  let ended: unknown;
  return {
    format: (results, options) => {
      // After one endless computation the outputter is not called again: there may be many hosts.
      if (ended !== undefined) throw ended;
      try {
        const text: unknown = bounded(() => output(dataByHost(results), options));
        if (typeof text === 'string') return text;
      } catch (error) {
        if (error instanceof Ended) ended = error;
        throw error;
      }
      throw new Error('it returns no text');
    },
  };
};

type AnyFunction = (...args: unknown[]) => unknown;

const load = (module: ControlModule): AnyFunction => {
  if (module.broken !== undefined) throw unusable(module, module.broken);
  let found: unknown;
  try {
    found = bounded(() => module.load().output);
  } catch (error) {
    throw unusable(module, messageOf(error), error);
  }
  if (typeof found === 'function') return found as AnyFunction;
  throw unusable(module, "it exports no function 'output'");
};

const unusable = ({ name, path }: ControlModule, why: string, cause?: unknown): TsaltError =>
  new TsaltError('outputter', `The outputter '${name}' cannot be used: ${why}.`, {
    at: { file: path },
    cause,
  });
