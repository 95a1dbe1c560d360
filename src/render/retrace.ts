import { excerptOf } from '../data/excerpt.ts';
import type { Data } from '../data/value.ts';
import { TsaltError } from '../protocol/error.ts';
import { type Mapping, RenderedText } from './source-map.ts';

/**
 * How a stage's result leads back to the template. `undefined`: it is the template's own text or
 * was read from it; `unknown`: an engine that reports no origins changed it.
 */
export type Origins = RenderedText | 'unknown' | undefined;

type Work = {
  readonly file: string;
  readonly input: Data;
  readonly result: Data;
  readonly before: Origins;
  /** What the engine reported. */
  readonly map: Mapping | undefined;
};

/** The origins of what a stage made of its input. */
export const originsOfResult = ({ file, input, result, before, map }: Work): Origins => {
  if (typeof result !== 'string' || typeof input !== 'string') return before;
  if (before === 'unknown') return before;
  if (map) return new RenderedText(result, map, { file, text: input, origins: before });
  return result === input ? before : 'unknown';
};

/** An error in a rendered text, with the place and the lines of the template instead. */
export const retraced = (error: TsaltError, file: string, origins: RenderedText): TsaltError => {
  const { code, message, kind, at, hint, excerpt, saltText, cause } = error;
  if (at?.line === undefined || at.file !== file || excerpt === undefined) return error;
  const found = origins.find({ line: at.line, column: at.column ?? 1 });
  if (!found) return error;
  const { place, text } = found;
  const { column, ...line } = place;
  return new TsaltError(code, message, {
    kind,
    at: at.column === undefined ? line : place,
    hint,
    excerpt: excerptOf(text, place.line ?? 1),
    saltText,
    cause,
  });
};
