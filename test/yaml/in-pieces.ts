import { runSteps } from '../../src/data/steps.ts';
import type { Data } from '../../src/data/values/value.ts';
import { loadPieces } from '../../src/yaml/load-large.ts';
import { sourceOf } from '../../src/yaml/source-of.ts';
import type { YamlLoadOptions } from '../../src/yaml/yaml-error.ts';

/** Loads a text in pieces of so many characters; undefined if it cannot be cut. */
export const inPieces = (
  text: string,
  size: number,
  options: YamlLoadOptions = {},
): Data | undefined => runSteps(loadPieces(sourceOf(text, options), size));
