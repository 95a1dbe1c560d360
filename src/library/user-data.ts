import type { Data, Dict } from '../data/values/value.ts';
import { Float, isDict } from '../data/values/value.ts';
import { TsaltError } from '../protocol/error.ts';
import { isPlainDict } from '../protocol/plain.ts';

/**
 * Converts a value of a program to data: numbers with a fraction are floats, plain objects and Maps
 * are dicts, keys with the value undefined are absent.
 *
 * @param value a value of the program
 * @param name the option it was given as, for messages
 * @throws TsaltError `usage-argument` for values that are not data: functions, dates, cycles
 */
export const userData = (value: unknown, name: string): Data => read(value, name, []);

/** As `userData`, for options that are a dict. */
export const userDict = (value: object, name: string): Dict => {
  const data = userData(value, name);
  if (isDict(data)) return data;
  throw notData(name, 'not an object of names and values');
};

const read = (value: unknown, name: string, inside: readonly unknown[]): Data => {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number') return Number.isInteger(value) ? value : new Float(value);
  if (value instanceof Float) return value;
  if (typeof value !== 'object') throw notData(name, `of the type ${typeof value}`);
  if (inside.includes(value)) throw notData(name, 'contained in itself');
  const within = [...inside, value];
  if (Array.isArray(value)) return value.map((item, at) => read(item, `${name}[${at}]`, within));
  const pairs = isDict(value) ? [...value] : isPlainDict(value) ? Object.entries(value) : undefined;
  if (pairs === undefined) throw notData(name, `an object of the class ${value.constructor.name}`);
  const dict: Dict = new Map();
  for (const [key, item] of pairs)
    if (item !== undefined) dict.set(key, read(item, `${name}.${String(key)}`, within));
  return dict;
};

const notData = (name: string, what: string): TsaltError =>
  new TsaltError('usage-argument', `The value of '${name}' is ${what}, which is not data.`, {
    hint: 'Texts, numbers, booleans, null, arrays and plain objects can be given.',
  });
