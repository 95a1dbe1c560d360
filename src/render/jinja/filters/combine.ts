import { raise } from '../jinja-error.ts';
import type { Operation, Operations, Run } from '../run/run.ts';
import { isTruthy } from '../values/compare.ts';
import { itemsOf } from '../values/iterate.ts';
import { wholeNumber } from '../values/number.ts';
import { Iterator } from '../values/things.ts';
import { tuple, type Value } from '../values/value.ts';

const size = (value: Value | undefined): number => {
  const number = wholeNumber(value ?? null) ?? raise('an integer is required');
  return number < 0 ? raise('r must be non-negative') : number;
};

type Rule = { readonly ordered: boolean; readonly repeats: boolean };

/** Returns every choice of `count` items; each one counts as a step of the run. */
const choices = (items: Value[], count: number, { ordered, repeats }: Rule, run: Run): Value[] => {
  const found: Value[] = [];
  const chosen: number[] = [];
  const visit = (from: number): void => {
    run.step();
    if (chosen.length === count) {
      found.push(tuple(chosen.map(index => items[index] ?? null)));
      return;
    }
    for (let index = ordered ? 0 : from; index < items.length; index += 1) {
      if (ordered && chosen.includes(index)) continue;
      chosen.push(index);
      visit(repeats ? index : index + 1);
      chosen.pop();
    }
  };
  if (repeats ? items.length > 0 || count === 0 : count <= items.length) visit(0);
  return found;
};

const product = (lists: Value[][], run: Run): Value[] =>
  lists
    .reduce<Value[][]>(
      (rows, list) =>
        rows.flatMap(row => {
          run.step(list.length);
          return list.map(item => [...row, item]);
        }),
      [[]],
    )
    .map(tuple);

const zip = (lists: Value[][], length: number, fill: Value): Value[] =>
  Array.from({ length }, (_, index) => tuple(lists.map(list => list[index] ?? fill)));

const combine =
  (name: string, rule: Rule): Operation =>
  (value, { list: [count], named }, run) => {
    const items = itemsOf(value);
    const given = count ?? named.get('r');
    const length = given === undefined && rule.ordered ? items.length : size(given);
    return new Iterator(`itertools.${name}`, choices(items, length, rule, run));
  };

/** Salt's filters from Python's itertools. */
export const combineFilters: Operations = new Map<string, Operation>([
  ['combinations', combine('combinations', { ordered: false, repeats: false })],
  [
    'combinations_with_replacement',
    combine('combinations_with_replacement', { ordered: false, repeats: true }),
  ],
  ['permutations', combine('permutations', { ordered: true, repeats: false })],
  [
    'product',
    (value, { list, named }, run) => {
      const lists = [value, ...list].map(itemsOf);
      const repeat = Math.min(size(named.get('repeat') ?? 1), 100);
      const all = Array.from({ length: repeat }, () => lists).flat();
      return new Iterator('itertools.product', product(all, run));
    },
  ],
  [
    'compress',
    (value, { list: [selectors = null] }) => {
      const wanted = itemsOf(selectors);
      const kept = itemsOf(value).filter((_, index) => isTruthy(wanted[index] ?? null));
      return new Iterator('itertools.compress', kept);
    },
  ],
  [
    'zip',
    (value, { list }) => {
      const lists = [value, ...list].map(itemsOf);
      const length = Math.min(...lists.map(items => items.length));
      return new Iterator('zip', zip(lists, length, null));
    },
  ],
  [
    'zip_longest',
    (value, { list, named }) => {
      const lists = [value, ...list].map(itemsOf);
      const length = Math.max(...lists.map(items => items.length));
      const rows = zip(lists, length, named.get('fillvalue') ?? null);
      return new Iterator('itertools.zip_longest', rows);
    },
  ],
]);
