import type { Data } from '../data/values/value.ts';
import { compose } from './compose.ts';
import { Constructor } from './construct.ts';
import { isLarge, loadPieces } from './load-large.ts';
import { sourceOf } from './source-of.ts';
import type { YamlLoadOptions, YamlSource } from './yaml-error.ts';

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
  if (isLarge(source)) {
    const pieces = loadPieces(source);
    for (;;) {
      const { done, value } = pieces.next();
      if (!done) continue;
      if (value !== undefined) return value;
      break;
    }
  }
  return loadWhole(source);
};

/**
 * As `loadYaml`, for large texts: waits for `pause` whenever a piece was loaded.
 *
 * @param pieceSize in characters. Default: one that costs little.
 * @throws TsaltError as `loadYaml`
 */
export const loadYamlInPieces = async (
  text: string,
  options: YamlLoadOptions,
  pause: () => Promise<void> | undefined,
  pieceSize?: number,
): Promise<Data> => {
  const source = sourceOf(text, options);
  const pieces = loadPieces(source, pieceSize);
  for (;;) {
    const { done, value } = pieces.next();
    if (!done) await pause();
    else return value ?? loadWhole(source);
  }
};

const loadWhole = (source: YamlSource): Data => {
  const root = compose(source);
  return root ? new Constructor(source).construct(root) : null;
};
