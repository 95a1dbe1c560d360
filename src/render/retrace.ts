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
  /** The report of the engine. */
  readonly map: Mapping | undefined;
};

/** The origins of what a stage made of its input. */
export const originsOfResult = ({ file, input, result, before, map }: Work): Origins => {
  if (typeof result !== 'string' || typeof input !== 'string') return before;
  if (before === 'unknown') return before;
  if (map) return new RenderedText(result, map, { file, text: input, origins: before });
  return result === input ? before : 'unknown';
};

/** How positions in data lead back to the template; `undefined` where they are the template's. */
export const traceOf = (origins: Origins, file: string): Trace | undefined =>
  origins === 'unknown' ? ({ line }) => ({ file, rendered: line }) : origins?.trace;

/** An error in a rendered text, with the place and the lines of the template instead. */
export const retraced = (error: TsaltError, file: string, origins: Origins): TsaltError => {
  const { code, message, kind, at, hint, excerpt, saltText, cause } = error;
  if (at?.line === undefined || at.file !== file || excerpt === undefined) return error;
  if (origins === undefined) return error;
  const options = { kind, hint, saltText, cause };
  // Its excerpt is all that can be shown.
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
