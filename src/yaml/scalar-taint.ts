import {
  cutRanges,
  firstBehind,
  isTouched,
  type Ranges,
  rangesOf,
  type TaintRange,
  wholeRange,
} from '../data/taint.ts';
import { showLocation, TsaltError } from '../protocol/error.ts';
import type { NodeEvent } from './reader.ts';
import type { TaintOptions, YamlSource } from './yaml-error.ts';

/**
 * Returns the tainted parts of a scalar's value, precisely if the text contains the value
 * unchanged.
 */
export const scalarTaint = (
  text: string,
  { from, to, value }: NodeEvent,
  ranges: Ranges,
): Ranges | undefined => {
  if (!isTouched(ranges, from, to)) return undefined;
  for (const [start, end] of [
    [from, to],
    [from + 1, to - 1],
  ] as const) {
    if (text.slice(start, end) !== value) continue;
    const exact = cutRanges(ranges, start, end).map(range => ({ ...range, isNode: false }));
    return rangesOf(exact);
  }
  const first = ranges[firstBehind(ranges, from)];
  return wholeRange(value, first?.source ?? ranges[0].source);
};

/**
 * Returns the error for a tainted part that would change the structure of a text.
 *
 * @param offset position in the rendered text
 */
export const taintError = (
  source: YamlSource,
  { owner }: TaintOptions,
  range: TaintRange,
  offset: number,
): TsaltError => {
  const at = source.written(Math.min(offset, source.text.length));
  const place = range.place ?? showLocation(at);
  const found = range.place && /^(.*):(\d+):(\d+)$/s.exec(range.place);
  return new TsaltError(
    'render-tainted',
    `${owner}'s ${range.source} would change the structure of ${place}; quote it with | yaml_dquote`,
    {
      kind: 'render',
      at: found
        ? { file: found[1] ?? source.file, line: Number(found[2]), column: Number(found[3]) }
        : at,
      hint: 'What a host sends is data: it may fill a value, but neither begin, end nor add one.',
    },
  );
};
