import { floatText } from '../python/float-text.ts';
import { type Data, type DataKey, type Dict, Float } from '../values/value.ts';

export type JsonDumpOptions = {
  /** Spaces per level; absent: everything on one line, `, ` and `: ` between. */
  readonly indent?: number | undefined;
  readonly sortKeys?: boolean;
  /** Between items, and between a key and its value. Default `, ` (`,` with `indent`) and `: `. */
  readonly separators?: readonly [string, string] | undefined;
  /** Write everything beyond ASCII as `\uXXXX`. */
  readonly ascii?: boolean;
};

/** Formats JSON exactly as Python's `json.dumps` does. */
export const dumpJson = (data: Data, options: JsonDumpOptions = {}): string =>
  write(data, options, 0);

const write = (data: Data, options: JsonDumpOptions, depth: number): string => {
  if (data === null) return 'null';
  if (data instanceof Float) return jsonFloat(data.value);
  switch (typeof data) {
    case 'boolean':
    case 'bigint':
      return String(data);
    case 'number':
      return Number.isInteger(data) ? String(BigInt(data)) : jsonFloat(data);
    case 'string':
      return jsonString(data, options.ascii ?? false);
  }
  const { indent } = options;
  const open = indent === undefined ? '' : `\n${' '.repeat(indent * (depth + 1))}`;
  const close = indent === undefined ? '' : `\n${' '.repeat(indent * depth)}`;
  const [between, colon] = options.separators ?? [indent === undefined ? ', ' : ',', ': '];
  const comma = `${between}${open}`;
  if (Array.isArray(data)) {
    if (data.length === 0) return '[]';
    return `[${open}${data.map(item => write(item, options, depth + 1)).join(comma)}${close}]`;
  }
  if (data.size === 0) return '{}';
  const pairs = entries(data, options.sortKeys ?? false).map(
    ([key, value]) =>
      `${jsonString(keyName(key), options.ascii ?? false)}${colon}${write(value, options, depth + 1)}`,
  );
  return `{${open}${pairs.join(comma)}${close}}`;
};

const entries = (dict: Dict, sorted: boolean): [DataKey, Data][] =>
  sorted
    ? [...dict].sort(([left], [right]) => compareKeys(keyName(left), keyName(right)))
    : [...dict];

/** Compares by code point, as Python compares strings. */
export const compareKeys = (left: string, right: string): number => {
  if (left === right) return 0;
  const a = Array.from(left);
  const b = Array.from(right);
  for (let index = 0; index < a.length && index < b.length; index += 1) {
    const difference = (a[index]?.codePointAt(0) ?? 0) - (b[index]?.codePointAt(0) ?? 0);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
};

const keyName = (key: DataKey): string =>
  key instanceof Float || (typeof key === 'number' && !Number.isInteger(key))
    ? jsonFloat(Number(key))
    : String(key);

const jsonFloat = (value: number): string => {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value < 0 ? '-Infinity' : 'Infinity';
  return floatText(value);
};

const short = new Map([
  ['"', '\\"'],
  ['\\', '\\\\'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
  ['\f', '\\f'],
  ['\b', '\\b'],
]);

const jsonString = (text: string, ascii: boolean): string =>
  `"${text.replace(ascii ? /["\\\x00-\x1f\x7f-\uffff]/g : /["\\\x00-\x1f]/g, escaped)}"`;

const escaped = (char: string): string =>
  short.get(char) ?? `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
