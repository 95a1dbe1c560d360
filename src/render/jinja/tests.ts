import { operations } from './filters/define.ts';
import { flagsOf, regexMatches } from './filters/regex.ts';
import { raise } from './jinja-error.ts';
import type { Operation, Operations, Run } from './run/run.ts';
import { compare, equal } from './values/compare.ts';
import { contains, itemsIn, sizeIn } from './values/iterate.ts';
import { calculate, isFloat, isInt, isNumeric } from './values/number.ts';
import { textOf, typeName } from './values/text.ts';
import { Undefined } from './values/undefined.ts';
import { isList, isMap, Thing, type Value } from './values/value.ts';

const need = (value: Value): Value => {
  if (value instanceof Undefined) value.need();
  return value;
};

const modulo = (value: Value, by: Value): Value =>
  isNumeric(need(value)) && isNumeric(by)
    ? calculate('%', value as number, by as number)
    : raise(`unsupported operand type(s) for %: '${typeName(value)}' and '${typeName(by)}'`);

const ordered =
  (operator: string, holds: (order: number) => boolean) =>
  (value: Value, [other = null]: (Value | undefined)[]): boolean =>
    holds(compare(value, other, operator));

const isCased = (value: Value, cased: (text: string) => string): boolean => {
  const text = textOf(value);
  return text === cased(text) && text.toLowerCase() !== text.toUpperCase();
};

const other = ['other'];

const eq = (value: Value, [against = null]: (Value | undefined)[]): boolean =>
  equal(value, against);
const ne = (value: Value, args: (Value | undefined)[]): boolean => !eq(value, args);
const gt = ordered('>', order => order > 0);
const ge = ordered('>=', order => order >= 0);
const lt = ordered('<', order => order < 0);
const le = ordered('<=', order => order <= 0);

const has = (name: Value, find: (name: string) => boolean): boolean =>
  typeof name === 'string' && find(name);

const plain = operations({
  defined: [[], value => !(value instanceof Undefined)],
  undefined: [[], value => value instanceof Undefined],
  none: [[], value => value === null],
  string: [[], value => typeof value === 'string'],
  number: [[], isNumeric],
  integer: [[], isInt],
  float: [[], isFloat],
  boolean: [[], value => typeof value === 'boolean'],
  true: [[], value => value === true],
  false: [[], value => value === false],
  mapping: [[], isMap],
  list: [[], isList],
  iterable: [[], value => itemsIn(need(value)) !== undefined],
  sequence: [[], value => sizeIn(need(value)) !== undefined],
  callable: [
    [],
    value => value instanceof Undefined || (value instanceof Thing && value.isCallable),
  ],
  sameas: [other, (value, [against]) => value === against || sameNumber(value, against)],
  even: [[], value => equal(modulo(value, 2), 0)],
  odd: [[], value => equal(modulo(value, 2), 1)],
  divisibleby: [['num'], (value, [by = null]) => equal(modulo(value, by), 0)],
  in: [['seq'], (value, [container = null]) => contains(container, value)],
  lower: [[], value => isCased(value, text => text.toLowerCase())],
  upper: [[], value => isCased(value, text => text.toUpperCase())],
  escaped: [[], () => false],
  match: [
    ['rgx', 'ignorecase?', 'multiline?'],
    (value, [pattern = null, ignorecase, multiline]) =>
      regexMatches(textOf(value), textOf(pattern), flagsOf(ignorecase, multiline)),
  ],
  filter: [[], (value, _, run: Run) => has(value, name => run.hasFilter(name))],
  test: [[], (value, _, run: Run) => has(value, name => run.hasTest(name))],
  eq: [other, eq],
  ne: [other, ne],
  gt: [other, gt],
  ge: [other, ge],
  lt: [other, lt],
  le: [other, le],
});

const sameNumber = (value: Value, against: Value | undefined): boolean =>
  isFloat(value) && against !== undefined && isFloat(against) && equal(value, against);

const aliases: readonly (readonly [string, string])[] = [
  ['equalto', 'eq'],
  ['==', 'eq'],
  ['!=', 'ne'],
  ['>', 'gt'],
  ['greaterthan', 'gt'],
  ['>=', 'ge'],
  ['<', 'lt'],
  ['lessthan', 'lt'],
  ['<=', 'le'],
];

/** Tests behind `is`: Jinja's, and `list`, `match`, `equalto` as Salt has them. */
export const tests: Operations = new Map<string, Operation>([
  ...plain,
  ...aliases.flatMap(([alias, name]) => {
    const test = plain.get(name);
    return test ? [[alias, test] as const] : [];
  }),
]);
