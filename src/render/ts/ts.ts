import type { Data } from '../../data/values/value.ts';
import { withoutShebang } from '../pipe.ts';
import { renderError } from '../render-error.ts';
import type { Stage } from '../types.ts';
import { runUserProgram } from './run-program.ts';

/**
 * Renders an SLS written in TypeScript or JavaScript: `export const run = …` (sync or async,
 * receives grains, pillar, opts, salt …) or a default export that is data or a function. It may
 * import npm packages, neighbouring files and `tsalt-ssh/sls`; imports are bundled, so a module is
 * loaded once per worker and shared by all hosts.
 */
export const renderTs = async (text: string, stage: Stage): Promise<Data> => {
  const { file } = stage.request;
  const body = withoutShebang(text);
  const missing = 'the module exports neither `run` nor a default';
  const data = await runUserProgram(body, file, stage, {
    names: ['run', 'default'],
    mayBeData: true,
    missing,
    noExport: renderError(
      'ts-no-run',
      missing,
      { file, text: body, line: 1 },
      { hint: 'Write `export const run = () => ({ … })` or `export default { … }`.' },
    ),
  });
  return data === null ? new Map() : data;
};
