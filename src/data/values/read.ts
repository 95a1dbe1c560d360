import { type SourceLocation, TsaltError } from '../../protocol/error.ts';
import type { Plain, PlainDict } from '../../protocol/plain.ts';
import { keyPosition } from './position.ts';
import { type Data, type Dict, Float, isDict, toPlain, toPlainDict } from './value.ts';

/**
 * An expected kind of value: its name for the user, a reader that returns `undefined` on mismatch,
 * and the JSON Schema of accepted values.
 */
export type ValueKind<T> = {
  readonly expected: string;
  readonly schema: PlainDict;
  readonly read: (value: Data) => T | undefined;
};

export const stringKind: ValueKind<string> = {
  expected: 'text',
  schema: { type: ['string', 'number'] },
  read: value =>
    typeof value === 'string' ? value : typeof value === 'number' ? String(value) : undefined,
};

export const flag: ValueKind<boolean> = {
  expected: 'true or false',
  schema: { type: 'boolean' },
  read: value => (typeof value === 'boolean' ? value : undefined),
};

/** An integer in a range. */
export const wholeNumberKind = (
  least: number,
  most = Number.MAX_SAFE_INTEGER,
): ValueKind<number> => ({
  expected:
    most === Number.MAX_SAFE_INTEGER
      ? `a whole number, at least ${least}`
      : `a whole number from ${least} to ${most}`,
  schema: {
    type: 'integer',
    minimum: least,
    ...(most === Number.MAX_SAFE_INTEGER ? {} : { maximum: most }),
  },
  read: value =>
    typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most
      ? value
      : undefined,
});

/** Seconds, fractions allowed. */
export const seconds: ValueKind<number> = {
  expected: 'a number of seconds above 0',
  schema: { type: 'number', exclusiveMinimum: 0 },
  read: value => {
    const number = value instanceof Float ? value.value : value;
    return typeof number === 'number' && number > 0 ? number : undefined;
  },
};

/** Strings: a list, or one comma-separated string. */
export const stringsKind: ValueKind<readonly string[]> = {
  expected: 'a list of texts',
  schema: {
    type: ['array', 'string'],
    items: { type: ['string', 'number', 'boolean', 'null'] },
  },
  read: value => {
    if (typeof value === 'string')
      return value
        .split(',')
        .map(part => part.trim())
        .filter(part => part !== '');
    return Array.isArray(value) && value.every(item => typeof item !== 'object' || item === null)
      ? value.map(showScalar)
      : undefined;
  },
};

const showScalar = (value: Data): string =>
  value === true ? 'True' : value === false ? 'False' : value === null ? 'None' : String(value);

export const mapping: ValueKind<PlainDict> = {
  expected: 'a mapping',
  schema: { type: ['object', 'null'] },
  read: value => (value === null ? {} : isDict(value) ? toPlainDict(value) : undefined),
};

export const dict: ValueKind<Dict> = {
  expected: 'a mapping',
  schema: { type: ['object', 'null'] },
  read: value => (value === null ? new Map() : isDict(value) ? value : undefined),
};

export const list: ValueKind<readonly Plain[]> = {
  expected: 'a list',
  schema: { type: 'array' },
  read: value => (Array.isArray(value) ? value.map(toPlain) : undefined),
};

export const oneOf = <T extends string>(...names: readonly T[]): ValueKind<T> => ({
  expected: `one of ${names.join(', ')}`,
  schema: { enum: [...names] },
  read: value => names.find(name => name === value),
});

/** Returns the position of a mapping's key. */
export const keyLocation = (file: string, node: object, key: unknown): SourceLocation => ({
  file,
  ...keyPosition(node, key),
});

/**
 * Reads one key of a file. Throws `<code>-value` with the position if the value has the wrong type.
 */
export const readKey = <T>(
  source: { readonly file: string; readonly dict: Dict; readonly code: string },
  key: string,
  kind: ValueKind<T>,
): T | undefined => {
  const value = source.dict.get(key);
  if (value === undefined) return undefined;
  const read = kind.read(value);
  if (read !== undefined) return read;
  throw new TsaltError(
    `${source.code}-value`,
    `The value of '${key}' must be ${kind.expected}, not ${describeValue(value)}.`,
    { at: keyLocation(source.file, source.dict, key) },
  );
};

/** Describes a value in a message; only its type if it could be a secret or long. */
export const describeValue = (value: Data): string => {
  if (value === null) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (isDict(value)) return 'a mapping';
  if (typeof value === 'string') return value.length <= 30 ? `'${value}'` : 'a text';
  return String(value);
};
