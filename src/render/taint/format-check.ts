import { type Ranges, wholeRange } from '../../data/taint.ts';
import { type Data, type Dict, Float, isDict } from '../../data/values/value.ts';
import { TsaltError } from '../../protocol/error.ts';
import type { TaintSource } from './taint-table.ts';

type Taint = { readonly ranges: Ranges; readonly source: TaintSource; readonly file: string };

/** A text that is valid in JSON and TOML only inside a quoted string or a comment. */
const probe = '}]x[{=';

/**
 * Parses text of a format whose parser does not report offsets. A tainted part must be inside one
 * quoted string and contain nothing that could end it, or be a complete number or word; a
 * serialized value must be where a string could be. This is tested by replacing each part by a
 * probe.
 *
 * @param parse the parser of the format; throws for malformed text
 * @throws TsaltError `render-tainted`, and the errors of `parse`
 */
export const parseTainted = (
  text: string,
  { ranges, source, file }: Taint,
  parse: (text: string) => Data,
): Data => {
  const probed = withProbes(text, ranges);
  const expected = probed === undefined ? undefined : attempt(() => parse(probed));
  if (expected === undefined) throw refusal(text, ranges, source, file);
  const data = parse(text);
  const isSame = learn(data, expected, ranges[0].source, source);
  if (!isSame) throw refusal(text, ranges, source, file);
  return data;
};

/** Taints every string in data from a text that is tainted as a whole. */
export const taintAll = (data: Data, from: string, source: TaintSource): void => {
  if (typeof data === 'string') source.learn(data, wholeRange(data, from));
  else if (Array.isArray(data)) for (const item of data) taintAll(item, from, source);
  else if (isDict(data))
    for (const [key, item] of data) {
      if (typeof key === 'string') taintAll(key, from, source);
      taintAll(item, from, source);
    }
};

/** Whether all of a text is one host-supplied piece. */
export const isWholeTainted = (text: string, ranges: Ranges): boolean =>
  ranges.length === 1 && ranges[0].start === 0 && ranges[0].end >= text.trimEnd().length;

const withProbes = (text: string, ranges: Ranges): string | undefined => {
  let result = '';
  let at = 0;
  for (const { start, end, isNode, isEscaped } of ranges) {
    const part = text.slice(start, end);
    result += text.slice(at, start);
    at = end;
    if (isNode) result += `"${probe}"`;
    else if (/^-?\d+(?:\.\d+)?$|^(?:true|false|null)$/.test(part)) result += part;
    else if (!isEscaped && /["'\\\p{Cc}\u2028\u2029]/u.test(part)) return undefined;
    else result += probe;
  }
  return result + text.slice(at);
};

const attempt = (work: () => Data): Data | undefined => {
  try {
    return work();
  } catch {
    return undefined;
  }
};

/** Whether both values have the same shape; strings and keys that differ become tainted. */
const learn = (data: Data, expected: Data, from: string, source: TaintSource): boolean => {
  if (typeof expected === 'string' && expected.includes(probe)) {
    taintAll(data, from, source);
    return typeof data === 'string' || expected === probe;
  }
  if (Array.isArray(data) && Array.isArray(expected))
    return (
      data.length === expected.length &&
      data.every((item, index) => learn(item, expected[index] ?? null, from, source))
    );
  if (isDict(data) && isDict(expected)) return learnDict(data, expected, from, source);
  return isScalar(data) && isScalar(expected);
};

const learnDict = (data: Dict, expected: Dict, from: string, source: TaintSource): boolean => {
  if (data.size !== expected.size) return false;
  const wanted = [...expected];
  return [...data].every(([key, item], index) => {
    const [expectedKey, expectedItem] = wanted[index] ?? ['', null];
    if (key !== expectedKey) {
      if (typeof expectedKey !== 'string' || !expectedKey.includes(probe)) return false;
      if (typeof key === 'string') source.learn(key, wholeRange(key, from));
    }
    return learn(item, expectedItem, from, source);
  });
};

const isScalar = (data: Data): boolean =>
  typeof data !== 'object' || data === null || data instanceof Float;

const refusal = (
  text: string,
  ranges: Ranges,
  { owner }: TaintSource,
  file: string,
): TsaltError => {
  const blamed =
    ranges.find(({ start, end }) => /["'\\\p{Cc}]/u.test(text.slice(start, end))) ?? ranges[0];
  const before = text.slice(0, blamed.start).split('\n');
  const line = before.length;
  const place = blamed.place ?? `${file}:${line}:${(before.at(-1)?.length ?? 0) + 1}`;
  return new TsaltError(
    'render-tainted',
    `${owner}'s ${blamed.source} would change the structure of ${place}; print it with | json`,
    { kind: 'render', at: { file, line } },
  );
};
