import { toData } from '../../data/value.ts';
import { dumpYaml } from '../../data/yaml-dump.ts';
import type { Format } from '../format.ts';
import { dataByHost } from '../result.ts';

/** One YAML document for the hosts it is given (spec: salt.output.yaml_out). */
export const yamlFormat: Format = {
  format: (results, { indent }) =>
    dumpYaml(toData(dataByHost(results)), {
      escapes: 'marks',
      defaultFlowStyle: typeof indent === 'number' && indent < 0,
      ...(typeof indent === 'number' && indent > 0 ? { indent } : {}),
    }).trimEnd(),
};
