import { raise } from '../fault.ts';
import { assign, isTrue, lookUp } from '../values/compare.ts';
import { charCount, itemsOf } from '../values/iterate.ts';
import { wholeNumber } from '../values/number.ts';
import { needRoom, repeatText } from '../values/operators.ts';
import { textOf, typeName } from '../values/text.ts';
import { Bytes } from '../values/things.ts';
import { Undefined } from '../values/undefined.ts';
import { isMap, isTuple, tuple, type Value, type ValueDict } from '../values/value.ts';
import { type Method, methods } from './method.ts';
import { split, splitFromEnd, splitLines, strip } from './split.ts';

const words = (value: Value | undefined, otherwise: string | null): string | null => {
  if (value === undefined) return otherwise;
  if (value === null || typeof value === 'string') return value;
  return raise(`must be str or None, not ${typeName(value)}`);
};

const text = (value: Value | undefined): string =>
  typeof value === 'string' ? value : raise(`must be str, not ${typeName(value ?? null)}`);

const count = (value: Value | undefined, otherwise = 0): number =>
  value === undefined
    ? otherwise
    : (wholeNumber(value) ??
      raise(`'${typeName(value)}' object cannot be interpreted as an integer`));

/** A part of a text by code points, as Python's `start` and `end` mean it. */
const part = (self: string, start: Value | undefined, end: Value | undefined): [string, number] => {
  if (start === undefined && end === undefined) return [self, 0];
  const chars = Array.from(self);
  const place = (index: number): number =>
    Math.min(Math.max(index < 0 ? index + chars.length : index, 0), chars.length);
  const from = start === undefined || start === null ? 0 : place(count(start));
  const to = end === undefined || end === null ? chars.length : place(count(end));
  return [chars.slice(from, Math.max(from, to)).join(''), from];
};

const anyOf = (value: Value | undefined, test: (text: string) => boolean): boolean =>
  Array.isArray(value) && isTuple(value) ? value.some(item => test(text(item))) : test(text(value));

const indexIn = (self: string, wanted: string, isLast: boolean): number => {
  const at = isLast ? self.lastIndexOf(wanted) : self.indexOf(wanted);
  return at < 0 ? -1 : charCount(self.slice(0, at));
};

const finder =
  (isLast: boolean, mustExist: boolean) =>
  (self: string, [wanted, start, end]: (Value | undefined)[]): Value => {
    const [piece, offset] = part(self, start, end);
    const at = indexIn(piece, text(wanted), isLast);
    if (at < 0) return mustExist ? raise('substring not found') : -1;
    return at + offset;
  };

const partition = (self: string, separator: string, isLast: boolean): Value => {
  if (separator === '') raise('empty separator');
  const at = isLast ? self.lastIndexOf(separator) : self.indexOf(separator);
  if (at < 0) return tuple(isLast ? ['', '', self] : [self, '', '']);
  return tuple([self.slice(0, at), separator, self.slice(at + separator.length)]);
};

/** Python's `text.replace`, of at most so many places; negative: of all. */
export const replaceText = (self: string, old: string, fresh: string, most: number): string => {
  const places = most === 0 ? 0 : old === '' ? charCount(self) + 1 : self.split(old).length - 1;
  repeatText(fresh, most < 0 ? places : Math.min(places, most));
  if (most < 0 && old !== '') return self.replaceAll(old, () => fresh);
  let left = most < 0 ? places : most;
  if (old === '') {
    const chars = Array.from(self);
    const pieces = chars.map(char => (left-- > 0 ? fresh + char : char)).join('');
    return left > 0 ? pieces + fresh : pieces;
  }
  let result = '';
  let at = 0;
  for (; left > 0; left -= 1) {
    const found = self.indexOf(old, at);
    if (found < 0) break;
    result += self.slice(at, found) + fresh;
    at = found + old.length;
  }
  return result + self.slice(at);
};

export const capitalize = (self: string): string => {
  const [first = '', ...rest] = Array.from(self);
  return first.toUpperCase() + rest.join('').toLowerCase();
};

const title = (self: string): string =>
  self.replace(/\p{L}[\p{L}\p{M}]*/gu, word => capitalize(word));

const isCased = (self: string, cased: string): boolean =>
  self === cased && self.toLowerCase() !== self.toUpperCase();

const matcher =
  (pattern: RegExp) =>
  (self: string): boolean =>
    pattern.test(self);

const padding = (self: string, width: number, fill: Value | undefined): [number, string] => {
  const char = fill === undefined ? ' ' : text(fill);
  if (charCount(char) !== 1) raise('The fill character must be exactly one character long');
  return [Math.max(0, width - charCount(self)), char];
};

const center = (self: string, width: number, fill: Value | undefined): string => {
  const [room, char] = padding(self, width, fill);
  const left = Math.floor(room / 2) + (room & width & 1);
  return repeatText(char, left) + self + repeatText(char, room - left);
};

const zeroFill = (self: string, width: number): string => {
  const sign = /^[-+]/.exec(self)?.[0] ?? '';
  return sign + repeatText('0', Math.max(0, width - charCount(self))) + self.slice(sign.length);
};

const expandTabs = (self: string, size: number): string => {
  let column = 0;
  let result = '';
  for (const char of self) {
    if (char !== '\t') {
      result += char;
      column = char === '\n' || char === '\r' ? 0 : column + 1;
      continue;
    }
    const room = size > 0 ? size - (column % size) : 0;
    result += repeatText(' ', room);
    column += room;
  }
  return result;
};

const join = (self: string, items: Value): string => {
  const list = itemsOf(items);
  let size = 0;
  list.forEach((item, index) => {
    if (typeof item !== 'string') {
      if (item instanceof Undefined) item.need();
      return raise(`sequence item ${index}: expected str instance, ${typeName(item)} found`);
    }
    size += item.length + self.length;
  });
  repeatText(' ', size);
  return list.join(self);
};

const translate = (self: string, table: Value): string => {
  if (!isMap(table)) return raise(`'${typeName(table)}' object is not subscriptable`);
  return Array.from(self, char => {
    const found = lookUp(table, char.codePointAt(0) ?? 0);
    if (found === undefined) return char;
    return typeof found === 'number'
      ? String.fromCodePoint(found)
      : found === null
        ? ''
        : textOf(found);
  }).join('');
};

const makeTrans = (from: Value, to: Value | undefined): ValueDict => {
  const table: ValueDict = new Map();
  if (isMap(from))
    for (const [key, value] of from)
      assign(table, typeof key === 'string' ? (key.codePointAt(0) ?? 0) : key, value);
  else {
    const targets = Array.from(text(to));
    Array.from(text(from)).forEach((char, index) =>
      table.set(char.codePointAt(0) ?? 0, targets[index]?.codePointAt(0) ?? null),
    );
  }
  return table;
};

/** Python's `str` methods, without `format`. */
export const textMethods: ReadonlyMap<string, Method<string>> = methods<string>('str', {
  upper: [[], self => self.toUpperCase()],
  lower: [[], self => self.toLowerCase()],
  casefold: [[], self => self.toLowerCase().replaceAll('ß', 'ss')],
  capitalize: [[], capitalize],
  title: [[], title],
  swapcase: [
    [],
    self =>
      Array.from(self, char =>
        char === char.toUpperCase() ? char.toLowerCase() : char.toUpperCase(),
      ).join(''),
  ],
  strip: [['chars?'], (self, [chars]) => strip(self, words(chars, null), true, true)],
  lstrip: [['chars?'], (self, [chars]) => strip(self, words(chars, null), true, false)],
  rstrip: [['chars?'], (self, [chars]) => strip(self, words(chars, null), false, true)],
  split: [
    ['sep?', 'maxsplit?'],
    (self, [sep, most]) => listed(split(self, words(sep, null), count(most, -1))),
  ],
  rsplit: [
    ['sep?', 'maxsplit?'],
    (self, [sep, most]) => listed(splitFromEnd(self, words(sep, null), count(most, -1))),
  ],
  splitlines: [['keepends?'], (self, [keep = false]) => listed(splitLines(self, isTrue(keep)))],
  partition: [['sep'], (self, [sep]) => partition(self, text(sep), false)],
  rpartition: [['sep'], (self, [sep]) => partition(self, text(sep), true)],
  join: [['iterable'], (self, [items = null]) => join(self, items)],
  replace: [
    ['old', 'new', 'count?'],
    (self, [old, fresh, most]) => replaceText(self, text(old), text(fresh), count(most, -1)),
  ],
  startswith: [
    ['prefix', 'start?', 'end?'],
    (self, [prefix, start, end]) => {
      const [piece] = part(self, start, end);
      return anyOf(prefix, wanted => piece.startsWith(wanted));
    },
  ],
  endswith: [
    ['suffix', 'start?', 'end?'],
    (self, [suffix, start, end]) => {
      const [piece] = part(self, start, end);
      return anyOf(suffix, wanted => piece.endsWith(wanted));
    },
  ],
  removeprefix: [
    ['prefix'],
    (self, [prefix]) => (self.startsWith(text(prefix)) ? self.slice(text(prefix).length) : self),
  ],
  removesuffix: [
    ['suffix'],
    (self, [suffix]) =>
      text(suffix) !== '' && self.endsWith(text(suffix))
        ? self.slice(0, -text(suffix).length)
        : self,
  ],
  find: [['sub', 'start?', 'end?'], finder(false, false)],
  rfind: [['sub', 'start?', 'end?'], finder(true, false)],
  index: [['sub', 'start?', 'end?'], finder(false, true)],
  rindex: [['sub', 'start?', 'end?'], finder(true, true)],
  count: [
    ['sub', 'start?', 'end?'],
    (self, [wanted, start, end]) => {
      const [piece] = part(self, start, end);
      return text(wanted) === '' ? charCount(piece) + 1 : piece.split(text(wanted)).length - 1;
    },
  ],
  zfill: [['width'], (self, [width]) => zeroFill(self, count(width))],
  ljust: [
    ['width', 'fillchar?'],
    (self, [width, fill]) => {
      const [room, char] = padding(self, count(width), fill);
      return self + repeatText(char, room);
    },
  ],
  rjust: [
    ['width', 'fillchar?'],
    (self, [width, fill]) => {
      const [room, char] = padding(self, count(width), fill);
      return repeatText(char, room) + self;
    },
  ],
  center: [['width', 'fillchar?'], (self, [width, fill]) => center(self, count(width), fill)],
  expandtabs: [['tabsize?'], (self, [size]) => expandTabs(self, count(size, 8))],
  encode: [['encoding?', 'errors?'], self => new Bytes(Buffer.from(self, 'utf8'))],
  translate: [['table'], (self, [table = null]) => translate(self, table)],
  maketrans: [['x', 'y?'], (_, [from = null, to]) => makeTrans(from, to)],
  isdigit: [[], matcher(/^\d+$/)],
  isdecimal: [[], matcher(/^\p{Nd}+$/u)],
  isnumeric: [[], matcher(/^\p{N}+$/u)],
  isalpha: [[], matcher(/^\p{L}+$/u)],
  isalnum: [[], matcher(/^[\p{L}\p{N}]+$/u)],
  isspace: [[], matcher(/^\s+$/)],
  isascii: [[], matcher(/^[\x00-\x7f]*$/)],
  isidentifier: [[], matcher(/^[\p{L}_][\p{L}\p{N}_]*$/u)],
  isprintable: [[], self => !/[\p{C}\p{Z}]/u.test(self.replaceAll(' ', ''))],
  isupper: [[], self => isCased(self, self.toUpperCase())],
  islower: [[], self => isCased(self, self.toLowerCase())],
  istitle: [[], self => isCased(self, title(self)) && /\p{L}/u.test(self)],
});

const listed = (items: string[]): Value[] => {
  needRoom(items.length);
  return items;
};

/** Methods of `bytes`. */
export const bytesMethods: ReadonlyMap<string, Method<Bytes>> = methods<Bytes>('bytes', {
  decode: [['encoding?', 'errors?'], self => self.bytes.toString('utf8')],
  hex: [[], self => self.bytes.toString('hex')],
});

/** Methods of ints and floats. */
export const numberMethods: ReadonlyMap<string, Method<Value>> = methods<Value>('int', {
  bit_length: [[], self => (typeof self === 'number' ? Math.abs(self).toString(2).length : 0)],
  is_integer: [[], self => Number.isInteger(Number(self))],
});
