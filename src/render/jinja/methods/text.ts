import { raise } from '../jinja-error.ts';
import { assign, isTruthy, lookUp } from '../values/compare.ts';
import { charCount, itemsOf, needRoom } from '../values/iterate.ts';
import { repeatText } from '../values/operators.ts';
import { textOf, typeName } from '../values/text.ts';
import { Undefined } from '../values/undefined.ts';
import { isMap, type Value, type ValueDict } from '../values/value.ts';
import { count, optionalString, stringArgument } from './arguments.ts';
import { encode } from './encode.ts';
import { type Method, methods } from './method.ts';
import { anyOf, finder, part, partition, replaceText } from './search.ts';
import {
  capitalize,
  center,
  expandTabs,
  isCased,
  matcher,
  padding,
  title,
  zeroFill,
} from './shape.ts';
import { split, splitFromEnd, splitJinjaLines, strip } from './split.ts';

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
    const targets = Array.from(stringArgument(to));
    Array.from(stringArgument(from)).forEach((char, index) =>
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
  strip: [['chars?'], (self, [chars]) => strip(self, optionalString(chars, null), true, true)],
  lstrip: [['chars?'], (self, [chars]) => strip(self, optionalString(chars, null), true, false)],
  rstrip: [['chars?'], (self, [chars]) => strip(self, optionalString(chars, null), false, true)],
  split: [
    ['sep?', 'maxsplit?'],
    (self, [sep, most]) => listed(split(self, optionalString(sep, null), count(most, -1))),
  ],
  rsplit: [
    ['sep?', 'maxsplit?'],
    (self, [sep, most]) => listed(splitFromEnd(self, optionalString(sep, null), count(most, -1))),
  ],
  splitlines: [
    ['keepends?'],
    (self, [keep = false]) => listed(splitJinjaLines(self, isTruthy(keep))),
  ],
  partition: [['sep'], (self, [sep]) => partition(self, stringArgument(sep), false)],
  rpartition: [['sep'], (self, [sep]) => partition(self, stringArgument(sep), true)],
  join: [['iterable'], (self, [items = null]) => join(self, items)],
  replace: [
    ['old', 'new', 'count?'],
    (self, [old, fresh, most]) =>
      replaceText(self, stringArgument(old), stringArgument(fresh), count(most, -1)),
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
    (self, [prefix]) =>
      self.startsWith(stringArgument(prefix)) ? self.slice(stringArgument(prefix).length) : self,
  ],
  removesuffix: [
    ['suffix'],
    (self, [suffix]) =>
      stringArgument(suffix) !== '' && self.endsWith(stringArgument(suffix))
        ? self.slice(0, -stringArgument(suffix).length)
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
      return stringArgument(wanted) === ''
        ? charCount(piece) + 1
        : piece.split(stringArgument(wanted)).length - 1;
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
  encode: [
    ['encoding?', 'errors?'],
    (self, [encoding = 'utf-8', errors = 'strict']) =>
      encode(self, stringArgument(encoding), stringArgument(errors)),
  ],
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
