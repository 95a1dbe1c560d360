import type { Data } from '../data/values/value.ts';
import { compose } from './compose.ts';
import { Constructor } from './construct.ts';
import type { YamlLoadOptions } from './fault.ts';
import { sourceOf } from './source-of.ts';

/**
 * Data from YAML by the rules of Salt's loader: YAML 1.1 scalars, leading zeros of ints
 * dropped (`0644` is 644), dates stay text, duplicate keys refused, merge keys written out.
 * Mappings are Maps with typed keys; `keyPosition` and `nodePosition` know where things
 * stand. A text without a document is `null`.
 *
 * @throws TsaltError `yaml-…` with file, line, column and the lines around.
 */
export const loadYaml = (text: string, options: YamlLoadOptions = {}): Data => {
  const source = sourceOf(text, options);
  const root = compose(source);
  return root ? new Constructor(source).construct(root) : null;
};
