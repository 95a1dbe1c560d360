import type { Config } from '../config/config.ts';
import { modulePlaces } from '../config/module-dirs.ts';
import type { Format } from '../output/format.ts';
import { dataByHost } from '../output/result.ts';
import { TsaltError } from '../protocol/error.ts';

/**
 * Outputters of the user's: `_outputters/NAME.ts` in a file root exports
 * `output(data, options)`, where `data` is what the hosts gave, by id.
 *
 * @returns a function that gives `undefined` for a name that no root has
 */
export const userFormats =
  (config: Config) =>
  async (name: string): Promise<Format | undefined> => {
    const { loadControlModules } = await import('../bundle/control-modules.ts');
    const modules = await loadControlModules(modulePlaces(config));
    const found = modules.find(module => module.kind === 'outputters' && module.name === name);
    if (found === undefined) return undefined;
    const broken = (reason: string): TsaltError =>
      new TsaltError('outputter', `The outputter '${name}' cannot be used: ${reason}.`, {
        at: { file: found.path },
      });
    if (found.broken !== undefined) throw broken(found.broken);
    const { output } = found.load();
    if (typeof output !== 'function') throw broken("it exports no function 'output'");
    return {
      format: (results, options) => {
        const text: unknown = output(dataByHost(results), options);
        if (typeof text !== 'string') throw new Error('it gives no text');
        return text;
      },
    };
  };
