import { excerptOf } from '../data/excerpt.ts';
import type { Trace } from '../data/values/position.ts';
import type { Data } from '../data/values/value.ts';
import { TsaltError } from '../protocol/error.ts';
import { type Mapping, type Origins, RenderedText } from './source-map.ts';

type Work = {
  readonly file: string;
  readonly input: Data;
  readonly result: Data;
  readonly before: Origins;
  /** The map that the engine reported. */
  readonly map: Mapping | undefined;
};

/** Returns the origins of a stage's result. */
export const originsOfResult = ({ file, input, result, before, map }: Work): Origins => {
  if (typeof result !== 'string' || typeof input !== 'string') return before;
  if (before === 'unknown') return before;
  if (map) return new RenderedText(result, map, { file, text: input, origins: before });
  return result === input ? before : 'unknown';
};

/**
 * Returns the map from positions in data to the template; `undefined` if they are the template's.
 */
export const traceOf = (origins: Origins, file: string): Trace | undefined =>
  origins === 'unknown' ? ({ line }) => ({ file, rendered: line }) : origins?.trace;

/** Replaces position and excerpt of an error in a rendered text by those of the template. */
export const retraced = (error: TsaltError, file: string, origins: Origins): TsaltError => {
  const { code, message, kind, at, hint, excerpt, saltText, cause } = error;
  if (at?.line === undefined || at.file !== file || excerpt === undefined) return error;
  if (origins === undefined) return error;
  const options = { kind, hint, saltText, cause };
  // Only its own excerpt can be shown.
  if (origins === 'unknown')
    return new TsaltError(code, message, { ...options, at: { file, rendered: at.line }, excerpt });
  const found = origins.find({ line: at.line, column: at.column ?? 1 });
  if (!found) return error;
  const { place, text } = found;
  const { column, ...line } = place;
  return new TsaltError(code, message, {
    ...options,
    at: at.column === undefined ? line : place,
    excerpt: excerptOf(text, place.line ?? 1),
  });
};
