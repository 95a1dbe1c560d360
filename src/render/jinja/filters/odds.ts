import { randomBytes } from 'node:crypto';
import { memberOf } from '../access.ts';
import { raise } from '../fault.ts';
import type { Operation, Operations } from '../run/run.ts';
import { isTrue } from '../values/compare.ts';
import { itemsOf } from '../values/iterate.ts';
import { isNumeric, numeric, wholeNumber } from '../values/number.ts';
import { textOf } from '../values/text.ts';
import { Bytes } from '../values/things.ts';
import { Thing, type Value } from '../values/value.ts';
import { operations } from './define.ts';
import { formatPython } from './pformat.ts';
import { formatDate } from './strftime.ts';

/** `value|method_call('name', …)`: nothing for a method that is not there. */
const methodCall: Operation = (value, { list, named }, run) => {
  const [name, ...rest] = list;
  const method = memberOf(value, textOf(name ?? null));
  if (!(method instanceof Thing) || !method.isCallable) return null;
  return method.call({ list: rest, named }, run);
};

const matchesAny = (value: Value, patterns: Value): boolean =>
  (typeof patterns === 'string' ? [patterns] : itemsOf(patterns)).some(pattern =>
    globPattern(textOf(pattern)).test(textOf(value)),
  );

const globPattern = (glob: string): RegExp =>
  new RegExp(
    `^${glob
      .replace(/[\\^$+.()|{}]/g, '\\$&')
      .replace(/\*+/g, '.*')
      .replace(/\?/g, '.')
      .replace(/\[!/g, '[^')}$`,
    's',
  );

const isAllowed = (value: Value, whitelist: Value, blacklist: Value): boolean => {
  if (isTrue(blacklist) && matchesAny(value, blacklist)) return false;
  return isTrue(whitelist) ? matchesAny(value, whitelist) : true;
};

const randomText = (size: number): string =>
  randomBytes(Math.min(size, 1_000_000)).toString('base64').slice(0, size);

const macBytes = (text: string): Bytes => {
  const digits = text.length === 17 ? text.replaceAll(text.charAt(2), '') : text;
  return /^[\da-fA-F]{12}$/.test(digits)
    ? new Bytes(Buffer.from(digits, 'hex'))
    : raise('Invalid MAC address');
};

const newMac = (prefix: string): string =>
  [prefix, ...(randomBytes(3).toString('hex').toUpperCase().match(/../g) ?? [])].join(':');

const toDate = (value: Value): Date => {
  if (value === null) return new Date();
  if (isNumeric(value)) return new Date(Number(numeric(value)) * 1000);
  const text = textOf(value).trim();
  if (/^\d+(?:\.\d+)?$/.test(text)) return new Date(Number(text) * 1000);
  const date = new Date(
    text.replace(/^(\d{4})\/(\d\d)\/(\d\d)/, '$1-$2-$3').replace(/^(\d{4}-\d\d-\d\d)$/, '$1T00:00'),
  );
  return Number.isNaN(date.getTime()) ? raise(`Unable to parse ${text}`) : date;
};

const plain = operations({
  to_bytes: [['encoding?', 'errors?'], value => new Bytes(Buffer.from(textOf(value)))],
  random_str: [[], value => randomText(wholeNumber(value) ?? 32)],
  gen_mac: [[], value => newMac(textOf(value))],
  mac_str_to_bytes: [[], value => macBytes(textOf(value))],
  check_whitelist_blacklist: [
    ['whitelist?', 'blacklist?'],
    (value, [whitelist = null, blacklist = null]) => isAllowed(value, whitelist, blacklist),
  ],
  strftime: [
    ['format?'],
    (value, [format = '%Y-%m-%d']) => formatDate(toDate(value), textOf(format)),
  ],
  date_format: [
    ['format?'],
    (value, [format = '%Y-%m-%d']) => formatDate(toDate(value), textOf(format)),
  ],
  python: [[], formatPython],
  pprint: [[], formatPython],
  json_encode_dict: [[], value => value],
  json_encode_list: [[], value => value],
  json_decode_dict: [[], value => value],
  json_decode_list: [[], value => value],
});

/** Salt's filters that fit nowhere else. */
export const oddFilters: Operations = new Map([...plain, ['method_call', methodCall] as const]);
