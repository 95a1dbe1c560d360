import { raise } from './jinja-error.ts';
import { lipsum } from './lipsum.ts';
import { updateValueDict } from './methods/dict.ts';
import type { Names } from './run/deferred.ts';
import { isTruthy } from './values/compare.ts';
import { wholeNumber } from './values/number.ts';
import { textOf, typeName } from './values/text.ts';
import { Namespace, Range } from './values/things.ts';
import {
  type Args,
  Callable,
  OrderedDict,
  Thing,
  type Value,
  type ValueDict,
} from './values/value.ts';

const longestRange = 100_000;

const range = ({ list }: Args): Value => {
  const numbers = list.map(
    value =>
      wholeNumber(value) ??
      raise(`'${typeName(value)}' object cannot be interpreted as an integer`),
  );
  const [first = raise('range expected at least 1 argument, got 0'), second, step = 1] = numbers;
  if (step === 0) raise('range() arg 3 must not be zero');
  const made = second === undefined ? new Range(0, first, 1) : new Range(first, second, step);
  if (made.size > longestRange)
    raise(`Range too big. The sandbox blocks ranges larger than MAX_RANGE (${longestRange}).`);
  return made;
};

const dictOf = (dict: ValueDict, args: Args): ValueDict => {
  updateValueDict(dict, args);
  return dict;
};

/** `cycler(…)` */
class Cycler extends Thing {
  override readonly typeName = 'Cycler';
  readonly #items: readonly Value[];
  #at = 0;

  constructor(items: readonly Value[]) {
    super();
    this.#items = items;
  }
  override attribute(name: string): Value | undefined {
    const current = this.#items[this.#at] ?? null;
    if (name === 'current') return current;
    if (name === 'next')
      return new Callable('next', () => {
        const value = this.#items[this.#at] ?? null;
        this.#at = (this.#at + 1) % this.#items.length;
        return value;
      });
    if (name !== 'reset') return undefined;
    return new Callable('reset', () => {
      this.#at = 0;
      return null;
    });
  }
}

const joiner = ({ list: [separator = ', '] }: Args): Callable => {
  let isFirst = true;
  return new Callable('joiner', () => {
    const text = isFirst ? '' : separator;
    isFirst = false;
    return text;
  });
};

/** The value behind the first condition that is true; the last stands alone. */
const ifElse = ({ list }: Args): Value => {
  for (let at = 0; at + 1 < list.length; at += 2)
    if (isTruthy(list[at] ?? null)) return list[at + 1] ?? null;
  return list.length % 2 === 1 ? (list.at(-1) ?? null) : null;
};

/** Jinja's and Salt's globals. None of them has a state. */
const globals: Names = new Map(
  Object.entries({
    range: new Callable('range', range, 'type'),
    dict: new Callable('dict', args => dictOf(new Map(), args), 'type'),
    odict: new Callable('OrderedDict', args => dictOf(new OrderedDict(), args), 'type'),
    namespace: new Callable('Namespace', args => new Namespace(dictOf(new Map(), args)), 'type'),
    cycler: new Callable(
      'Cycler',
      ({ list }) =>
        list.length === 0 ? raise('at least one item has to be provided') : new Cycler(list),
      'type',
    ),
    joiner: new Callable('Joiner', joiner, 'type'),
    lipsum: new Callable('lipsum', lipsum, 'function'),
    raise: new Callable('raise', ({ list: [reason = ''] }) => raise(textOf(reason)), 'function'),
    ifelse: new Callable('ifelse', ifElse, 'function'),
  }),
);

/** The globals of one rendering: loading a template adds names to them. */
export const makeGlobals = (): Names => new Map(globals);
