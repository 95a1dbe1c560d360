import type { Ranges } from '../../data/taint.ts';
import type { Trace } from '../../data/values/position.ts';
import type { Data } from '../../data/values/value.ts';
import { loadYaml } from '../../yaml/load.ts';
import { isWholeTainted, parseTainted, taintAll } from './format-check.ts';
import type { TaintSource } from './taint-table.ts';

type Options = {
  readonly file: string;
  readonly firstLine?: number | undefined;
  readonly trace?: Trace | undefined;
};

/**
 * Parses a text within a template. A text that the host sent as a whole is tainted throughout; if
 * only parts are host-supplied, they must not change its structure.
 *
 * @throws TsaltError `render-tainted`, and the errors of the format
 */
export const loadTaintedYaml = (
  text: string,
  taint: TaintSource | undefined,
  options: Options,
): Data => {
  const ranges = taint?.of(text);
  if (!taint || !ranges) return loadYaml(text, options);
  if (isWholeTainted(text, ranges)) {
    const data = loadYaml(text, options);
    taintAll(data, ranges[0].source, taint);
    return data;
  }
  const onScalar = (value: string, found: Ranges): void => taint.learn(value, found);
  return loadYaml(text, { ...options, taint: { ranges, owner: taint.owner, onScalar } });
};

/** As `loadTaintedYaml`, for JSON that `parse` reads. */
export const loadTaintedJson = (
  text: string,
  taint: TaintSource | undefined,
  file: string,
  parse: (text: string) => Data,
): Data => {
  const ranges = taint?.of(text);
  if (!taint || !ranges) return parse(text);
  if (!isWholeTainted(text, ranges))
    return parseTainted(text, { ranges, source: taint, file }, parse);
  const data = parse(text);
  taintAll(data, ranges[0].source, taint);
  return data;
};
