import { runInTurns, runSteps, type Steps } from '../data/steps.ts';
import type { Data } from '../data/values/value.ts';
import type { Turns } from '../protocol/turns.ts';
import { composeInSteps, refuseUnprintable } from './compose.ts';
import { Constructor } from './construct.ts';
import { isLarge, loadPieces } from './load-large.ts';
import { loadTree } from './load-tree.ts';
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
  return runSteps(isLarge(source) ? loadInSteps(source) : loadWhole(source));
};

/**
 * As `loadYaml`, for large texts: other work continues between the steps.
 *
 * @param pieceSize in characters. Default: one that costs little.
 * @throws TsaltError as `loadYaml`
 */
export const loadYamlInPieces = async (
  text: string,
  options: YamlLoadOptions,
  turns: Turns,
  pieceSize?: number,
): Promise<Data> => runInTurns(loadInSteps(sourceOf(text, options), pieceSize), turns);

const loadInSteps = function* (source: YamlSource, pieceSize?: number): Steps<Data> {
  return (yield* loadPieces(source, pieceSize)) ?? (yield* loadWhole(source));
};

const loadWhole = function* (source: YamlSource): Steps<Data> {
  refuseUnprintable(source);
  const { tree, parsed } = loadTree(source, 0, source.text.length);
  if (tree) return tree.data;
  const root = yield* composeInSteps(source, parsed);
  return root ? yield* new Constructor(source).constructInSteps(root) : null;
};
