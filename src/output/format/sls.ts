import { dumpYaml } from '../../data/formats/yaml-dump.ts';
import { toData } from '../../data/values/value.ts';
import { isPlainDict } from '../../protocol/plain.ts';
import type { Format } from '../format.ts';
import { dataByHost } from '../result.ts';
import { oneLine } from '../text.ts';
import { nestedFormat } from './nested.ts';

/**
 * Formats a host's data as an SLS of its own, for `state.describe`: the output for one host is a
 * file to apply. Its content is data, so template engines must not interpret it.
 */
export const slsFormat: Format = {
  longest: 4_000_000,
  format: (results, options) =>
    results
      .map(result => {
        const data = dataByHost([result])[result.id] ?? null;
        if (result.failure !== undefined || !isPlainDict(data))
          return nestedFormat.format([result], options);
        const text = dumpYaml(toData(data), {
          defaultFlowStyle: false,
          sortKeys: false,
          escapes: 'marks',
        });
        return `#!yaml\n# ${oneLine(result.id)}\n${text}`.trimEnd();
      })
      .join('\n\n'),
};
