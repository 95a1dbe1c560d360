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
 * Data from a text within a template. A text that the host sent as a whole is data of its own,
 * tainted throughout; one that only holds parts of the host's keeps its structure.
 *
 * @throws TsaltError `render-tainted`, and what the format throws
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

/** The same for JSON, which `parse` reads. */
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
