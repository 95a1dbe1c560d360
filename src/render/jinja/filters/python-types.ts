import { readBase64 } from '../../filters/hash.ts';
import { toBool } from '../../filters/text.ts';
import { raise } from '../jinja-error.ts';
import type { Operations, Run } from '../run/run.ts';
import { equal, identity } from '../values/compare.ts';
import { itemsIn, itemsOf } from '../values/iterate.ts';
import { textOf, typeName } from '../values/text.ts';
import { Bytes, PySet } from '../values/things.ts';
import { valueToData } from '../values/to-data.ts';
import { Undefined } from '../values/undefined.ts';
import { isList, isMap, isTuple, type Key, type Value, type ValueDict } from '../values/value.ts';
import { operations } from './define.ts';

type Codec = { readonly most: number; readonly encode: (text: string) => Buffer };

const wide = (text: string): Buffer => Buffer.from(text, 'utf16le');
const latin1: Codec = { most: 0xff, encode: text => Buffer.from(text, 'latin1') };
const codecs: ReadonlyMap<string, Codec> = new Map([
  ['utf8', { most: 0x10ffff, encode: (text: string) => Buffer.from(text) }],
  ['ascii', { ...latin1, most: 0x7f }],
  ['usascii', { ...latin1, most: 0x7f }],
  ['latin1', latin1],
  ['iso88591', latin1],
  ['utf16', { most: 0x10ffff, encode: (text: string) => wide(`\ufeff${text}`) }],
  ['utf16le', { most: 0x10ffff, encode: wide }],
  ['utf16be', { most: 0x10ffff, encode: (text: string) => wide(text).swap16() }],
]);

const encode = (text: string, encoding: string, errors: string): Buffer => {
  const codec = codecs.get(encoding.toLowerCase().replace(/[-_ ]/g, ''));
  if (!codec) return raise(`unknown encoding: ${encoding}`);
  const fitting = Array.from(text, char => {
    if ((char.codePointAt(0) ?? 0) <= codec.most) return char;
    if (errors === 'ignore') return '';
    return errors === 'replace'
      ? '?'
      : raise(`'${encoding}' codec can't encode character '${char}' in '${text}'`);
  });
  return codec.encode(fitting.join(''));
};

const toBytes = (value: Value, encoding: Value, errors: Value): Bytes => {
  if (value instanceof Bytes) return value;
  if (typeof value !== 'string')
    return raise(`expected str, bytes, or bytearray not ${typeName(value)}`);
  return new Bytes(encode(value, textOf(encoding), textOf(errors)));
};

/**
 * Converts strings to bytes and tuples to lists, as Salt's `json_encode_…` and `json_decode_…` do.
 */
const encoded = (value: Value): Value => {
  if (typeof value === 'string') return new Bytes(Buffer.from(value));
  if (isMap(value)) return encodedPairs(value);
  return Array.isArray(value) ? Array.from(value, encoded) : value;
};

const encodedDict = (value: Value): Value => {
  if (!isMap(value)) return raise(`'${typeName(value)}' object has no attribute 'items'`);
  refuseTooLarge(value);
  return encodedPairs(value);
};

const encodedPairs = (value: ValueDict): Value =>
  new Map(
    Array.from(value, ([key, item]) => {
      if (isTuple(key)) raise("unhashable type: 'list'");
      return [encoded(key) as Key, encoded(item)] as const;
    }),
  );

const encodedList = (value: Value): Value => {
  refuseTooLarge(value);
  return itemsOf(value).map(encoded);
};

/** Refuses huge lists: a list may contain itself, or another one many times. */
const refuseTooLarge = (value: Value): void => {
  valueToData(value);
};

/** Makes a set of hashable values: strings and tuples. */
const unique = (value: Value, run: Run): Value => {
  const seen = new Set<string>();
  const kept: Value[] = [];
  for (const item of itemsOf(value)) {
    run.step();
    if (Array.isArray(item) || isMap(item)) {
      run.step(kept.length);
      if (!kept.some(known => equal(known, item))) kept.push(item);
    } else if (!seen.has(identity(item))) {
      seen.add(identity(item));
      kept.push(item);
    }
  }
  return typeof value === 'string' || isTuple(value) ? new PySet(kept) : kept;
};

const fromBase64 = (value: Value): Value => {
  const bytes = readBase64(value instanceof Bytes ? value.bytes.toString('latin1') : textOf(value));
  const text = bytes.toString('utf8');
  return bytes.equals(Buffer.from(text)) ? text : new Bytes(bytes);
};

const isIterable = (value: Value, ignore: Value): boolean =>
  itemsIn(value) !== undefined && !(typeof value === 'string' && ignore !== null);

/** Salt's filters whose result depends on Python's types: tuples, sets and bytes. */
export const pythonTypeFilters: Operations = operations({
  to_bytes: [
    ['encoding?', 'errors?'],
    (value, [encoding = 'utf-8', errors = 'strict']) => toBytes(value, encoding ?? 'utf-8', errors),
  ],
  base64_decode: [[], fromBase64],
  json_encode_dict: [[], encodedDict],
  json_decode_dict: [[], encodedDict],
  json_encode_list: [[], encodedList],
  json_decode_list: [[], encodedList],
  unique: [[], (value, _, run) => unique(value, run)],
  to_bool: [
    [],
    value => (value instanceof Undefined || isTuple(value) ? false : toBool(valueToData(value))),
  ],
  is_list: [[], isList],
  is_iter: [['ignore?'], (value, [ignore = '']) => isIterable(value, ignore)],
  sequence: [
    [],
    value => (Array.isArray(value) || isMap(value) || value instanceof PySet ? value : [value]),
  ],
});
