import { dumpYaml } from '../../data/formats/yaml-dump.ts';
import { toData } from '../../data/values/value.ts';
import type { HostResult } from '../../protocol/event.ts';
import type { Format } from '../format.ts';
import type { OutputOptions } from '../options.ts';
import { dataByHost } from '../result.ts';

/** One YAML document for the hosts it is given (spec: salt.output.yaml_out). */
export const yamlFormat: Format = {
  longest: 1_000_000,
  format: (results, options) => written(results, options),
  joint: options =>
    isOneLine(options)
      ? undefined
      : {
          open: '',
          between: '\n',
          close: '',
          isSorted: true,
          part: (result, write) => write(written([result], options)),
        },
};

const isOneLine = ({ indent }: OutputOptions): boolean => typeof indent === 'number' && indent < 0;

const written = (results: readonly HostResult[], options: OutputOptions): string =>
  dumpYaml(toData(dataByHost(results)), {
    escapes: 'marks',
    defaultFlowStyle: isOneLine(options),
    ...(typeof options.indent === 'number' && options.indent > 0 ? { indent: options.indent } : {}),
  }).trimEnd();
