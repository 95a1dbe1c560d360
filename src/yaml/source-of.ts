import { cutRanges, isTouched, rangesOf } from '../data/taint.ts';
import { taintError } from './scalar-taint.ts';
import { type YamlLoadOptions, YamlSource } from './yaml-error.ts';

/** Removes the byte order mark of a text, unless a host supplied it. */
export const sourceOf = (text: string, options: YamlLoadOptions): YamlSource => {
  if (!text.startsWith('\ufeff')) return new YamlSource(text, options);
  const { taint } = options;
  if (!taint) return new YamlSource(text.slice(1), options);
  if (isTouched(taint.ranges, 0, 1))
    throw taintError(new YamlSource(text, options), taint, taint.ranges[0], 0);
  const ranges = rangesOf(cutRanges(taint.ranges, 1, text.length));
  return new YamlSource(text.slice(1), { ...options, taint: ranges && { ...taint, ranges } });
};
