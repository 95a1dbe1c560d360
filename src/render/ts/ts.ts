import type { Data } from '../../data/value.ts';
import { renderFault } from '../fault.ts';
import { fromJs } from '../js-value.ts';
import { withoutShebang } from '../pipe.ts';
import { contextOf } from '../script/context.ts';
import type { Stage } from '../types.ts';
import { bounded } from './bounded.ts';
import { loadModule, thrown } from './load-module.ts';
import { type SlsContext, slsStorage } from './sls-api.ts';

/**
 * An SLS written in TypeScript or JavaScript: `export const run = …` (sync or async, gets
 * grains, pillar, opts, salt …) or a default export that is data or a function. It imports
 * npm packages, neighbours and `tsalt-ssh/sls`; what it imports is bundled, so a module is
 * loaded once per run and shared by all hosts.
 */
export const renderTs = async (text: string, stage: Stage): Promise<Data> => {
  const { file } = stage.request;
  const body = withoutShebang(text);
  const { exports, map } = await loadModule(body, file);
  const main = exports.run ?? exports.default;
  if (main === undefined)
    throw renderFault(
      'ts-no-run',
      'the module exports neither `run` nor a default',
      { file, text: body, line: 1 },
      { hint: 'Write `export const run = () => ({ … })` or `export default { … }`.' },
    );
  const context = contextOf(stage) as SlsContext;
  try {
    const value: unknown = await slsStorage.run(context, () =>
      typeof main === 'function' ? bounded(() => main(context)) : main,
    );
    const data = fromJs(value);
    return data === null ? new Map() : data;
  } catch (error) {
    throw thrown(error, file, body, map);
  }
};
