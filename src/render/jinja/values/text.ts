import { floatText } from '../../../data/python/float-text.ts';
import { Float } from '../../../data/values/value.ts';
import { raiseLimit } from '../jinja-error.ts';
import { isTuple, OrderedDict, Thing, type Value, type ValueDict } from './value.ts';

/** Limit of a text's length, whatever a template does. */
export const longestText = 64_000_000;

export const typeName = (value: Value): string => {
  if (value === null) return 'NoneType';
  if (value instanceof Thing) return value.typeName;
  if (value instanceof Float) return 'float';
  if (Array.isArray(value)) return isTuple(value) ? 'tuple' : 'list';
  if (value instanceof Map) return value instanceof OrderedDict ? 'OrderedDict' : 'dict';
  switch (typeof value) {
    case 'string':
      return 'str';
    case 'boolean':
      return 'bool';
    case 'number':
      return Number.isInteger(value) ? 'int' : 'float';
    default:
      return 'int';
  }
};

/** Python's `str(value)`. */
export const textOf = (value: Value): string =>
  typeof value === 'string'
    ? value
    : value instanceof Thing
      ? value.text()
      : new Writer(true).write(value);

/** Python's `repr(value)`. */
export const reprOf = (value: Value): string => new Writer(true).write(value);

/** Returns the output of `{{ value }}`: as `str`, but dicts of any kind look like plain ones. */
export const printed = (value: Value): string =>
  typeof value === 'string'
    ? value
    : value instanceof Thing
      ? value.text()
      : new Writer(false).write(value);

class Writer {
  readonly #namesOrdered: boolean;
  readonly #open = new Set<object>();
  #size = 0;

  constructor(namesOrdered: boolean) {
    this.#namesOrdered = namesOrdered;
  }

  write(value: Value): string {
    const text = this.#write(value);
    this.#size += text.length;
    if (this.#size > longestText) raiseLimit('The text of a value grew too long');
    return text;
  }

  #write(value: Value): string {
    if (value === null) return 'None';
    if (value instanceof Thing) return value.repr();
    if (value instanceof Float) return floatText(value.value);
    switch (typeof value) {
      case 'string':
        return quoted(value);
      case 'boolean':
        return value ? 'True' : 'False';
      case 'number':
        return Number.isInteger(value) ? String(value) : floatText(value);
      case 'bigint':
        return String(value);
    }
    if (this.#open.has(value)) return Array.isArray(value) ? '[...]' : '{...}';
    this.#open.add(value);
    const text = Array.isArray(value) ? this.#sequence(value) : this.#dict(value);
    this.#open.delete(value);
    return text;
  }

  #sequence(items: Value[]): string {
    const inner = items.map(item => this.write(item)).join(', ');
    if (!isTuple(items)) return `[${inner}]`;
    return items.length === 1 ? `(${inner},)` : `(${inner})`;
  }

  #dict(dict: ValueDict): string {
    const ordered = this.#namesOrdered && dict instanceof OrderedDict;
    const pairs: string[] = [];
    for (const [key, item] of dict)
      pairs.push(
        ordered
          ? `(${this.write(key)}, ${this.write(item)})`
          : `${this.write(key)}: ${this.write(item)}`,
      );
    if (ordered) return pairs.length === 0 ? 'OrderedDict()' : `OrderedDict([${pairs.join(', ')}])`;
    return `{${pairs.join(', ')}}`;
  }
}

const plainText = /^[\x20-\x26\x28-\x5b\x5d-\x7e]*$/;

/** Quotes a text as Python's `repr` does. */
export const quoted = (text: string): string => {
  if (plainText.test(text)) return `'${text}'`;
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  let inner = '';
  for (const char of text) inner += char === quote ? `\\${char}` : escaped(char);
  return quote + inner + quote;
};

const shortEscapes = new Map([
  ['\\', '\\\\'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
]);

const unprintable = /[\p{C}\p{Z}]/u;

const escaped = (char: string): string => {
  const short = shortEscapes.get(char);
  if (short !== undefined) return short;
  if (char === ' ' || !unprintable.test(char)) return char;
  const code = char.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  if (code < 0x100) return `\\x${hex.padStart(2, '0')}`;
  return code < 0x10000 ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`;
};
