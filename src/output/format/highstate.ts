import type { Format } from '../format.ts';
import { formatHighstate } from '../highstate.ts';
import { forPeople, resultData } from '../result.ts';
import { nestedFormat } from './nested.ts';

/**
 * Salt's highstate outputter. A return that is not a state run is shown as by `nested`,
 * unless `--out=highstate` or the function's module asks for it: so does salt-ssh.
 */
export const highstateFormat: Format = {
  faults: true,
  format: (results, options) =>
    results
      .map(result =>
        result.states === undefined && !isAsked(result.outputter, options.out)
          ? nestedFormat.format([result], options)
          : formatHighstate(result.id, resultData(forPeople(result)), options, result.leftOut),
      )
      .join('\n'),
};

const isAsked = (...outputters: readonly (string | undefined)[]): boolean =>
  outputters.includes('highstate');
