import { isPlainDict, type Plain, type PlainDict } from '../../src/protocol/plain.ts';
import { isWholeFloat, wholeFloatText } from '../../src/protocol/whole-floats.ts';

/** One place where two answers differ. */
export type Difference = {
  /** Keys and indexes from the top, joined by `/`. */
  readonly path: string;
  readonly expected: Plain | undefined;
  readonly actual: Plain | undefined;
};

/** Where two answers differ; the order of keys does not count, that of lists does. */
export const differences = (
  expected: Plain | undefined,
  actual: Plain | undefined,
  path: readonly string[] = [],
): Difference[] => {
  if (isPlainDict(expected) && isPlainDict(actual)) {
    const keys = new Set([...Object.keys(expected), ...Object.keys(actual)]);
    return [...keys].flatMap(key =>
      differences(own(expected, key), own(actual, key), [...path, key]),
    );
  }
  if (Array.isArray(expected) && Array.isArray(actual) && expected.length === actual.length)
    return expected.flatMap((item, at) => differences(item, actual[at], [...path, String(at)]));
  return JSON.stringify(expected) === JSON.stringify(actual)
    ? []
    : [{ path: path.join('/'), expected, actual }];
};

const own = (dict: PlainDict, key: string): Plain | undefined =>
  Object.hasOwn(dict, key) ? dict[key] : undefined;

/**
 * Marks the floats without a fraction as the cases do (`{ $float: '1.0' }`). JSON and every copy
 * lose the difference between `1` and `1.0`, so this comes before any other change.
 */
export const markFloats = (value: Plain): Plain => {
  if (typeof value !== 'object' || value === null) return value;
  const item = (key: string | number, child: Plain): Plain =>
    typeof child === 'number' && isWholeFloat(value, key)
      ? { $float: wholeFloatText(child) }
      : markFloats(child);
  return Array.isArray(value)
    ? value.map((child, at) => item(at, child))
    : Object.fromEntries(Object.entries(value).map(([key, child]) => [key, item(key, child)]));
};

/**
 * Reduces the values that the cases mark to what crosses our wire: infinite floats, big ints and
 * typed keys are strings. Floats without a fraction keep their mark, as `markFloats` writes it.
 */
export const unmark = (value: Plain): Plain => {
  if (Array.isArray(value)) return value.map(unmark);
  if (!isPlainDict(value)) return value;
  const { $int, $float, $map } = value;
  if (typeof $int === 'string') return $int;
  if (typeof $float === 'string')
    return /^[-+]?(inf|nan)$/.test($float) ? $float : { $float: wholeFloatText(Number($float)) };
  if (Array.isArray($map))
    return Object.fromEntries(
      ($map as [Plain, Plain][]).map(([key, item]) => [String(unmark(key)), unmark(item)]),
    );
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, unmark(item)]));
};

/** Drops what differs between two runs of anything: times, process ids; sorts what Salt keeps in a set. */
export const normalise = (value: Plain): Plain => {
  if (typeof value === 'string') return sortFailed(value);
  if (Array.isArray(value)) return value.map(normalise);
  if (!isPlainDict(value)) return value;
  const isState = 'result' in value && 'comment' in value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !isState || (key !== 'duration' && key !== 'start_time'))
      .map(([key, item]) => [
        key,
        key === 'pid' && typeof item === 'number' ? '{{PID}}' : normalise(item),
      ]),
  );
};

const failed = 'One or more requisite failed: ';

const sortFailed = (text: string): string =>
  text.startsWith(failed) ? failed + text.slice(failed.length).split(', ').sort().join(', ') : text;
