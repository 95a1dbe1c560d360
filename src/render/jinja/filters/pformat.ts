import { compare } from '../values/compare.ts';
import { reprOf } from '../values/text.ts';
import { valueToData } from '../values/to-data.ts';
import { isMap, isTuple, type Key, type Value } from '../values/value.ts';

const width = 80;
const deepest = 100;

/** Python's `pprint.pformat`: sorted keys, on several lines if one is too short. */
export const formatPython = (value: Value): string => {
  valueToData(value);
  return write(value, 0, 0, 0);
};

const sortedPairs = (value: ReadonlyMap<Key, Value>): [Key, Value][] => {
  const pairs = [...value];
  try {
    return pairs.sort(([a], [b]) => compare(a, b));
  } catch {
    return pairs;
  }
};

/** Formats a value on one line, with sorted keys. */
const flat = (value: Value, depth = 0): string => {
  if (depth > deepest || typeof value !== 'object' || value === null) return reprOf(value);
  if (isMap(value)) {
    const pairs = sortedPairs(value).map(
      ([key, item]) => `${reprOf(key)}: ${flat(item, depth + 1)}`,
    );
    return `{${pairs.join(', ')}}`;
  }
  if (!Array.isArray(value)) return reprOf(value);
  const inner = Array.from(value, item => flat(item, depth + 1)).join(', ');
  if (!isTuple(value)) return `[${inner}]`;
  return value.length === 1 ? `(${inner},)` : `(${inner})`;
};

/** @param after how many characters follow on the last line. */
const write = (value: Value, indent: number, after: number, depth: number): string => {
  const line = flat(value);
  const isOne = line.length <= width - indent - after || depth > deepest;
  if (isOne || typeof value !== 'object' || value === null) return line;
  const space = `,\n${' '.repeat(indent + 1)}`;
  if (isMap(value)) {
    const pairs = sortedPairs(value);
    const items = pairs.map(([key, item], index) => {
      const name = `${reprOf(key)}: `;
      const rest = index === pairs.length - 1 ? after + 1 : 1;
      return name + write(item, indent + 1 + name.length, rest, depth + 1);
    });
    return `{${items.join(space)}}`;
  }
  if (!Array.isArray(value)) return line;
  const items = Array.from(value, (item, index) =>
    write(item, indent + 1, index === value.length - 1 ? after + 1 : 1, depth + 1),
  );
  if (!isTuple(value)) return `[${items.join(space)}]`;
  return `(${items.join(space)}${value.length === 1 ? ',' : ''})`;
};
