import type { Data } from '../data/values/value.ts';
import { compose } from './compose.ts';
import { Constructor } from './construct.ts';
import { sourceOf } from './source-of.ts';
import type { YamlLoadOptions } from './yaml-error.ts';

/**
 * Parses YAML by the rules of Salt's loader: YAML 1.1 scalars, leading zeros of ints dropped
 * (`0644` is 644), dates stay strings, duplicate keys refused, merge keys expanded. Mappings are
 * Maps with typed keys; `keyPosition` and `nodePosition` return positions. A text without a
 * document is `null`.
 *
 * @throws TsaltError `yaml-…` with file, line, column and the lines around.
 */
export const loadYaml = (text: string, options: YamlLoadOptions = {}): Data => {
  const source = sourceOf(text, options);
  const root = compose(source);
  return root ? new Constructor(source).construct(root) : null;
};
