import { dumpJson } from '../../../data/formats/json-dump.ts';
import { type Data, Float, isDict } from '../../../data/values/value.ts';

/** An argument: a value or, with `&`, an expression that is evaluated for each item. */
export type Argument = {
  readonly value: Data;
  readonly each: ((item: Data) => Data) | undefined;
};

type Kind =
  | 'any'
  | 'string'
  | 'number'
  | 'array'
  | 'object'
  | 'array-number'
  | 'array-string'
  | 'expression';

type QueryFunction = {
  /** The types of each parameter: names separated by `|`; a last one with `…` may be repeated. */
  readonly takes: readonly string[];
  readonly run: (...args: Argument[]) => Data;
};

const typeOf = (value: Data): string => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (isDict(value)) return 'object';
  if (typeof value === 'bigint' || value instanceof Float) return 'number';
  return typeof value;
};

const fits = ({ value, each }: Argument, kind: Kind): boolean => {
  if (kind === 'expression') return each !== undefined;
  if (each !== undefined) return false;
  if (kind === 'array-number' || kind === 'array-string')
    return Array.isArray(value) && value.every(item => `array-${typeOf(item)}` === kind);
  return kind === 'any' || typeOf(value) === kind;
};

/**
 * Calls a function of JMESPath.
 *
 * @throws TypeError for an unknown function, and for wrong arguments.
 */
export const callFunction = (name: string, args: readonly Argument[]): Data => {
  const found = Object.hasOwn(functions, name) ? functions[name] : undefined;
  if (!found) throw new TypeError(`JMESPath has no function '${name}'`);
  const { takes, run } = found;
  const isOpen = takes.at(-1)?.endsWith('…') ?? false;
  if (isOpen ? args.length < takes.length : args.length !== takes.length)
    throw new TypeError(
      `JMESPath's ${name}() takes ${isOpen ? 'at least ' : ''}${takes.length} arguments, not ${args.length}`,
    );
  args.forEach((arg, index) => {
    const kinds = (takes[Math.min(index, takes.length - 1)] ?? '').replace('…', '');
    if (!kinds.split('|').some(kind => fits(arg, kind as Kind)))
      throw new TypeError(
        `JMESPath's ${name}() takes ${kinds.replaceAll('|', ' or ')}, not ${typeOf(arg.value)}`,
      );
  });
  return run(...args);
};

export const isNumber = (value: Data): value is number | bigint | Float =>
  typeOf(value) === 'number';

/** Limit of nodes: a list that contains one list twice, which contains another twice …, is huge. */
const mostNodes = 5_000_000;
const longestText = 64_000_000;

export const isEqual = (left: Data, right: Data): boolean => same(left, right, { left: mostNodes });

const same = (left: Data, right: Data, budget: { left: number }): boolean => {
  budget.left -= 1;
  if (budget.left < 0) throw tooLarge();
  if (left === right) return true;
  if (isNumber(left) && isNumber(right)) return order(left, right) === 0;
  if (Array.isArray(left) && Array.isArray(right))
    return (
      left.length === right.length &&
      left.every((item, index) => same(item, right[index] ?? null, budget))
    );
  return (
    isDict(left) &&
    isDict(right) &&
    left.size === right.size &&
    [...left].every(([key, item]) => {
      const other = right.get(key);
      return other !== undefined && same(item, other, budget);
    })
  );
};

const tooLarge = (): TypeError =>
  new TypeError('a value that JMESPath compares or formats is too large');

const jsonText = (value: Data): string => {
  let nodes = 0;
  const count = (item: Data): void => {
    nodes += 1;
    if (nodes > mostNodes) throw tooLarge();
    if (Array.isArray(item)) item.forEach(count);
    else if (isDict(item)) for (const inner of item.values()) count(inner);
  };
  count(value);
  return dumpJson(value, { separators: [',', ':'], ascii: true });
};

const list = ({ value }: Argument): Data[] => (Array.isArray(value) ? value : []);
const text = ({ value }: Argument): string => String(value);
const numeric = (value: Data): number => Number(value);

const order = (a: Data, b: Data): number => {
  if (typeof a === 'string' && typeof b === 'string') return a < b ? -1 : a > b ? 1 : 0;
  return numeric(a) - numeric(b);
};

/** Integers stay integers; a sum with a float is a float. */
const total = (items: readonly Data[]): Data => {
  if (items.every(item => typeof item === 'bigint' || Number.isInteger(item))) {
    const sum = items.reduce((all: bigint, item) => all + BigInt(item as number | bigint), 0n);
    return Number.isSafeInteger(Number(sum)) ? Number(sum) : sum;
  }
  return real(items.reduce((all: number, item) => all + numeric(item), 0));
};

const real = (value: number): Data => (Number.isInteger(value) ? new Float(value) : value);

const best = (items: readonly Data[], sign: number, key: (item: Data) => Data): Data =>
  items.reduce<{ item: Data; key: Data } | undefined>((found, item) => {
    const next = { item, key: key(item) };
    return found && sign * order(next.key, found.key) <= 0 ? found : next;
  }, undefined)?.item ?? null;

/** Returns the sort key of an item: all strings or all numbers. */
const keyBy = (
  name: string,
  items: readonly Data[],
  { each }: Argument,
): ((item: Data) => Data) => {
  const keyOf = each ?? ((item: Data) => item);
  const kinds = new Set(items.map(item => typeOf(keyOf(item))));
  if (kinds.size > 1 || [...kinds].some(kind => kind !== 'string' && kind !== 'number'))
    throw new TypeError(
      `JMESPath's ${name}() sorts by texts or by numbers, not by ${[...kinds].join(' and ')}`,
    );
  return keyOf;
};

const toNumber = ({ value }: Argument): Data => {
  if (typeof value !== 'string') return typeOf(value) === 'number' ? value : null;
  if (/^\s*[-+]?\d+\s*$/.test(value)) {
    const whole = BigInt(value.trim().replace('+', ''));
    return Number.isSafeInteger(Number(whole)) ? Number(whole) : whole;
  }
  const found = /^\s*[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?\s*$/.test(value);
  return found ? real(Number(value)) : null;
};

const functions: Readonly<Record<string, QueryFunction>> = {
  abs: {
    takes: ['number'],
    run: ({ value }) => {
      if (typeof value === 'bigint') return value < 0n ? -value : value;
      return value instanceof Float ? new Float(Math.abs(value.value)) : Math.abs(numeric(value));
    },
  },
  avg: {
    takes: ['array-number'],
    run: arg => {
      const items = list(arg);
      return items.length === 0 ? null : real(numeric(total(items)) / items.length);
    },
  },
  ceil: { takes: ['number'], run: ({ value }) => Math.ceil(numeric(value)) },
  floor: { takes: ['number'], run: ({ value }) => Math.floor(numeric(value)) },
  contains: {
    takes: ['array|string', 'any'],
    run: ({ value }, { value: wanted }) => {
      if (Array.isArray(value)) return value.some(item => isEqual(item, wanted));
      if (typeof wanted !== 'string') throw new TypeError('in a text JMESPath looks for a text');
      return String(value).includes(wanted);
    },
  },
  ends_with: { takes: ['string', 'string'], run: (arg, end) => text(arg).endsWith(text(end)) },
  starts_with: {
    takes: ['string', 'string'],
    run: (arg, start) => text(arg).startsWith(text(start)),
  },
  join: {
    takes: ['string', 'array-string'],
    run: (separator, arg) => {
      const length = list(arg).reduce((sum: number, item) => sum + String(item).length, 0);
      if (length + text(separator).length * list(arg).length > longestText) throw tooLarge();
      return list(arg).join(text(separator));
    },
  },
  keys: { takes: ['object'], run: ({ value }) => (isDict(value) ? [...value.keys()] : null) },
  values: { takes: ['object'], run: ({ value }) => (isDict(value) ? [...value.values()] : null) },
  length: {
    takes: ['string|array|object'],
    run: ({ value }) =>
      isDict(value) ? value.size : Array.isArray(value) ? value.length : [...String(value)].length,
  },
  map: {
    takes: ['expression', 'array'],
    run: ({ each }, arg) => list(arg).map(item => each?.(item) ?? null),
  },
  max: { takes: ['array-number|array-string'], run: arg => best(list(arg), 1, item => item) },
  min: { takes: ['array-number|array-string'], run: arg => best(list(arg), -1, item => item) },
  max_by: {
    takes: ['array', 'expression'],
    run: (arg, by) => best(list(arg), 1, keyBy('max_by', list(arg), by)),
  },
  min_by: {
    takes: ['array', 'expression'],
    run: (arg, by) => best(list(arg), -1, keyBy('min_by', list(arg), by)),
  },
  merge: {
    takes: ['object…'],
    run: (...args) => new Map(args.flatMap(({ value }) => (isDict(value) ? [...value] : []))),
  },
  not_null: {
    takes: ['any…'],
    run: (...args) => args.find(({ value }) => value !== null)?.value ?? null,
  },
  reverse: {
    takes: ['array|string'],
    run: ({ value }) =>
      Array.isArray(value) ? [...value].reverse() : [...String(value)].reverse().join(''),
  },
  sort: { takes: ['array-string|array-number'], run: arg => [...list(arg)].sort(order) },
  sort_by: {
    takes: ['array', 'expression'],
    run: (arg, by) => {
      const keyOf = keyBy('sort_by', list(arg), by);
      return [...list(arg)].sort((a, b) => order(keyOf(a), keyOf(b)));
    },
  },
  sum: { takes: ['array-number'], run: arg => total(list(arg)) },
  to_array: { takes: ['any'], run: ({ value }) => (Array.isArray(value) ? value : [value]) },
  to_number: { takes: ['any'], run: toNumber },
  to_string: {
    takes: ['any'],
    run: ({ value }) => (typeof value === 'string' ? value : jsonText(value)),
  },
  type: { takes: ['any'], run: ({ value }) => typeOf(value) },
};
