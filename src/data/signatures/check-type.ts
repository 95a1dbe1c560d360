import { dictOf } from '../../protocol/key-order.ts';
import { isPlainDict } from '../../protocol/plain.ts';

/** A TypeScript type, as far as a value in YAML can be checked against it. */
export type ValueType =
  | { readonly kind: 'any' | 'string' | 'number' | 'boolean' | 'null' | 'undefined' | 'dict' }
  | { readonly kind: 'literal'; readonly value: string | number | boolean }
  | { readonly kind: 'list'; readonly of: ValueType }
  | { readonly kind: 'union'; readonly of: readonly ValueType[] };

export type Checked =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly wanted: string };

const parsed = new Map<string, ValueType>();

/** Parses a TypeScript type. Types that say nothing about data become `any`. */
export const valueType = (text: string): ValueType => {
  let type = parsed.get(text);
  if (!type) {
    type = parseType(text);
    parsed.set(text, type);
  }
  return type;
};

/**
 * Checks a value against a TypeScript type, as loosely as a YAML author expects: `"80"` is a
 * number, `80` a string, `yes` a boolean, one value a list of one, a list of one-key mappings a
 * mapping. Returns the converted value. Types that say nothing about data (classes, functions,
 * unknown names) accept everything.
 */
export const checkType = (text: string, value: unknown): Checked => {
  const type = valueType(text);
  if (value === undefined || !isData(value) || fits(type, value)) return { ok: true, value };
  const converted = convert(type, value);
  return converted ? { ok: true, value: converted.value } : { ok: false, wanted: describe(type) };
};

/**
 * Whether a value is JSON data: others (buffers, functions) come only from modules and are not
 * checked.
 */
const isData = (value: unknown): boolean =>
  value === null ||
  ['string', 'number', 'boolean'].includes(typeof value) ||
  Array.isArray(value) ||
  isPlainDict(value);

const fits = (type: ValueType, value: unknown): boolean => {
  switch (type.kind) {
    case 'any':
      return true;
    case 'null':
      return value === null;
    case 'undefined':
      return value === undefined;
    case 'dict':
      return isPlainDict(value);
    case 'literal':
      return value === type.value;
    case 'list':
      return Array.isArray(value) && value.every(item => fits(type.of, item));
    case 'union':
      return type.of.some(part => fits(part, value));
    default:
      return typeof value === type.kind;
  }
};

type Converted = { readonly value: unknown } | undefined;

const convert = (type: ValueType, value: unknown): Converted => {
  if (fits(type, value)) return { value };
  switch (type.kind) {
    case 'string':
      return toText(value);
    case 'number':
      return toNumber(value);
    case 'boolean':
      return toBoolean(value);
    case 'literal':
      return typeof value !== 'object' && String(value) === String(type.value)
        ? { value: type.value }
        : undefined;
    case 'dict':
      return toDict(value);
    case 'list':
      return toList(type.of, value);
    case 'union':
      return toUnion(type.of, value);
    default:
      return undefined;
  }
};

const toText = (value: unknown): Converted => {
  if (typeof value === 'number') return { value: String(value) };
  return typeof value === 'boolean' ? { value: value ? 'True' : 'False' } : undefined;
};

const toNumber = (value: unknown): Converted =>
  typeof value === 'string' && /^\s*[+-]?(\d+(?:\.\d*)?|\.\d+)(e[+-]?\d+)?\s*$/i.test(value)
    ? { value: Number(value) }
    : undefined;

const truths = new Map([
  ['true', true],
  ['yes', true],
  ['on', true],
  ['1', true],
  ['false', false],
  ['no', false],
  ['off', false],
  ['0', false],
]);

const toBoolean = (value: unknown): Converted => {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const truth = truths.get(String(value).toLowerCase());
  return truth === undefined ? undefined : { value: truth };
};

const toList = (of: ValueType, value: unknown): Converted => {
  const items = Array.isArray(value) ? value : [value];
  if (value === null) return undefined;
  const converted = items.map(item => convert(of, item));
  return converted.every(item => item !== undefined)
    ? { value: converted.map(item => item.value) }
    : undefined;
};

/** Salt's convention: `- env: [{A: 1}, {B: 2}]` means `{A: 1, B: 2}`. */
const toDict = (value: unknown): Converted => {
  if (!Array.isArray(value) || !value.every(isPlainDict)) return undefined;
  return { value: dictOf([...new Map(value.flatMap(item => Object.entries(item)))]) };
};

/** Mappings first, then lists, scalars last: the conversion that keeps most of the value. */
const toUnion = (types: readonly ValueType[], value: unknown): Converted => {
  const rank = (type: ValueType): number =>
    type.kind === 'list' ? (Array.isArray(value) ? 0 : 3) : type.kind === 'string' ? 2 : 1;
  for (const type of [...types].sort((a, b) => rank(a) - rank(b))) {
    const converted = convert(type, value);
    if (converted) return converted;
  }
  return undefined;
};

const words: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  boolean: 'true or false',
  dict: 'a mapping',
  null: 'null',
};

const describe = (type: ValueType): string => {
  if (type.kind === 'list')
    return `a list${type.of.kind === 'any' ? '' : ` (${describe(type.of)} each)`}`;
  if (type.kind === 'literal') return `'${type.value}'`;
  if (type.kind !== 'union') return words[type.kind] ?? type.kind;
  const parts = type.of.filter(({ kind }) => kind !== 'null' && kind !== 'undefined').map(describe);
  const last = parts.pop() ?? 'null';
  return parts.length > 0 ? `${parts.join(', ')} or ${last}` : last;
};

const any: ValueType = { kind: 'any' };
const simple = new Set(['string', 'number', 'boolean', 'null', 'undefined']);
const dicts = new Set(['Record', 'PlainDict', 'object']);
const literalPattern =
  /^(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|(-?\d+(?:\.\d+)?)|(true|false))$/;

const parseType = (text: string): ValueType => {
  const parts = splitTop(text.trim());
  if (parts.length > 1) return { kind: 'union', of: parts.map(parseType) };
  const [one = ''] = parts;
  if (one.endsWith('[]')) return { kind: 'list', of: parseType(one.slice(0, -2)) };
  if (one.startsWith('readonly ')) return parseType(one.slice(9));
  if (one.startsWith('(') && closes(one)) return parseType(one.slice(1, -1));
  if (simple.has(one)) return { kind: one as 'string' };
  const literal = literalPattern.exec(one);
  if (literal) return toLiteral(literal);
  if (one.startsWith('{') && closes(one)) return { kind: 'dict' };
  if (one.startsWith('[') && closes(one)) return { kind: 'list', of: any };
  const generic = /^(\w+)<([\s\S]*)>$/.exec(one);
  const name = generic?.[1] ?? one;
  if (name === 'Array' || name === 'ReadonlyArray')
    return { kind: 'list', of: generic ? parseType(generic[2] ?? '') : any };
  if (name === 'Readonly' && generic) return parseType(generic[2] ?? '');
  return dicts.has(name) ? { kind: 'dict' } : any;
};

const toLiteral = (match: RegExpExecArray): ValueType => {
  const [, single, double, number, truth] = match;
  if (number !== undefined) return { kind: 'literal', value: Number(number) };
  if (truth !== undefined) return { kind: 'literal', value: truth === 'true' };
  return { kind: 'literal', value: (single ?? double ?? '').replace(/\\(.)/g, '$1') };
};

/** Returns the members of a union; one part if there is anything else (`=>`, `&`) at the top. */
const splitTop = (text: string): string[] => {
  const parts: string[] = [];
  let depth = 0;
  let from = 0;
  let quote = '';
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at] ?? '';
    if (quote !== '') {
      if (char === '\\') at += 1;
      else if (char === quote) quote = '';
    } else if (char === "'" || char === '"') quote = char;
    else if (char === '=' && text[at + 1] === '>') return [text];
    else if ('([{<'.includes(char)) depth += 1;
    else if (')]}>'.includes(char)) depth -= 1;
    else if (char === '|' && depth === 0) {
      parts.push(text.slice(from, at).trim());
      from = at + 1;
    }
  }
  parts.push(text.slice(from).trim());
  return parts.filter(part => part !== '');
};

/** Whether the last character closes the bracket at the start. */
const closes = (text: string): boolean => {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at] ?? '';
    if ('([{'.includes(char)) depth += 1;
    if (')]}'.includes(char)) depth -= 1;
    if (depth === 0) return at === text.length - 1;
  }
  return false;
};
