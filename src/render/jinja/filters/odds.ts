import { now } from '../../nondeterminism.ts';
import { memberOf } from '../access.ts';
import { raise } from '../jinja-error.ts';
import type { Operation, Operations } from '../run/run.ts';
import { isNumeric, numeric } from '../values/number.ts';
import { textOf } from '../values/text.ts';
import { Bytes } from '../values/things.ts';
import { Thing, type Value } from '../values/value.ts';
import { operations } from './define.ts';
import { formatPython } from './pformat.ts';
import { formatDate } from './strftime.ts';

/** `value|method_call('name', …)`: None for a missing method. */
const methodCall: Operation = (value, { list, named }, run) => {
  const [name, ...rest] = list;
  const method = memberOf(value, textOf(name ?? null));
  if (!(method instanceof Thing) || !method.isCallable) return null;
  return method.call({ list: rest, named }, run);
};

const macBytes = (text: string): Bytes => {
  const digits = text.length === 17 ? text.replaceAll(text.charAt(2), '') : text;
  return /^[\da-fA-F]{12}$/.test(digits)
    ? new Bytes(Buffer.from(digits, 'hex'))
    : raise('Invalid MAC address');
};

const toDate = (value: Value): Date => {
  if (value === null) return now();
  if (isNumeric(value)) return new Date(Number(numeric(value)) * 1000);
  const text = textOf(value).trim();
  if (/^\d+(?:\.\d+)?$/.test(text)) return new Date(Number(text) * 1000);
  const date = new Date(
    text.replace(/^(\d{4})\/(\d\d)\/(\d\d)/, '$1-$2-$3').replace(/^(\d{4}-\d\d-\d\d)$/, '$1T00:00'),
  );
  return Number.isNaN(date.getTime()) ? raise(`Unable to parse ${text}`) : date;
};

const plain = operations({
  mac_str_to_bytes: [[], value => macBytes(textOf(value))],
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
});

/** Salt's other filters. */
export const oddFilters: Operations = new Map([...plain, ['method_call', methodCall] as const]);
