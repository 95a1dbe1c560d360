import { type Data, isDict } from '../../../data/values/value.ts';
import { type Argument, callFunction, isEqual, isNumber } from './functions.ts';
import { type Node, parseQuery } from './parse.ts';

/** Searches data with a JMESPath query (jmespath.org); no match is `null`. */
export const searchData = (data: Data, query: string): Data =>
  evaluate(parseQuery(query), data, { left: mostItems });

/** Limit of items in all projections of a query: each projection can double the number. */
const mostItems = 5_000_000;

type Budget = { left: number };

const spend = (budget: Budget, items: number): void => {
  budget.left -= items;
  if (budget.left < 0) throw new TypeError('the JMESPath query makes too many items');
};

const evaluate = (node: Node, value: Data, budget: Budget): Data => {
  switch (node.kind) {
    case 'current':
      return value;
    case 'field':
      return isDict(value) ? (value.get(node.name) ?? null) : null;
    case 'index':
      return Array.isArray(value) ? (value.at(node.index) ?? null) : null;
    case 'slice':
      return Array.isArray(value) ? slice(value, node.parts) : null;
    case 'literal':
      return node.value;
    case 'list':
      return value === null ? null : node.items.map(item => evaluate(item, value, budget));
    case 'dict':
      return value === null
        ? null
        : new Map(node.items.map(([name, item]) => [name, evaluate(item, value, budget)]));
    case 'chain':
      return evaluate(node.right, evaluate(node.left, value, budget), budget);
    case 'compare':
      return compare(
        node.operator,
        evaluate(node.left, value, budget),
        evaluate(node.right, value, budget),
      );
    case 'call':
      return callFunction(
        node.name,
        node.args.map(arg => argumentOf(arg, value, budget)),
      );
    case 'reference':
      throw new TypeError('in JMESPath `&` is allowed only before an argument of a function');
    default:
      return combine(node, value, budget);
  }
};

const argumentOf = (node: Node, value: Data, budget: Budget): Argument =>
  node.kind === 'reference'
    ? { value: null, each: item => evaluate(node.of, item, budget) }
    : { value: evaluate(node, value, budget), each: undefined };

const combine = (
  node: Exclude<Node, { kind: 'reference' | 'call' | 'compare' }>,
  value: Data,
  budget: Budget,
): Data => {
  switch (node.kind) {
    case 'not':
      return !isTrue(evaluate(node.of, value, budget));
    case 'and': {
      const left = evaluate(node.left, value, budget);
      return isTrue(left) ? evaluate(node.right, value, budget) : left;
    }
    case 'or': {
      const left = evaluate(node.left, value, budget);
      return isTrue(left) ? left : evaluate(node.right, value, budget);
    }
    case 'flatten': {
      const list = evaluate(node.of, value, budget);
      if (!Array.isArray(list)) return null;
      spend(
        budget,
        list.reduce((sum: number, item) => sum + (Array.isArray(item) ? item.length : 1), 0),
      );
      return list.flat(1);
    }
    case 'each':
      return project(evaluate(node.left, value, budget), node.right, budget);
    case 'values': {
      const dict = evaluate(node.left, value, budget);
      return isDict(dict) ? project([...dict.values()], node.right, budget) : null;
    }
    case 'filter': {
      const list = evaluate(node.left, value, budget);
      if (!Array.isArray(list)) return null;
      return project(
        list.filter(item => isTrue(evaluate(node.test, item, budget))),
        node.right,
        budget,
      );
    }
    default:
      return null;
  }
};

const project = (list: Data, item: Node, budget: Budget): Data => {
  if (!Array.isArray(list)) return null;
  spend(budget, list.length);
  return list.map(value => evaluate(item, value, budget)).filter(found => found !== null);
};

/** JMESPath's truthiness: zero is true. */
const isTrue = (value: Data): boolean =>
  Array.isArray(value)
    ? value.length > 0
    : isDict(value)
      ? value.size > 0
      : value !== null && value !== false && value !== '';

const orders: Readonly<Record<string, (order: number) => boolean>> = {
  '<': order => order < 0,
  '<=': order => order <= 0,
  '>': order => order > 0,
  '>=': order => order >= 0,
};

const compare = (operator: string, left: Data, right: Data): Data => {
  if (operator === '==') return isEqual(left, right);
  if (operator === '!=') return !isEqual(left, right);
  if (!isNumber(left) || !isNumber(right)) return null;
  return orders[operator]?.(Number(left) - Number(right)) ?? null;
};

/** Python's slices. */
const slice = (list: readonly Data[], parts: readonly (number | null)[]): Data[] => {
  const [start = null, stop = null, step = null] = parts;
  const by = step ?? 1;
  if (by === 0) throw new TypeError('slice step cannot be zero');
  const bound = (at: number | null, otherwise: number): number => {
    if (at === null) return otherwise;
    const index = at < 0 ? at + list.length : at;
    return Math.min(Math.max(index, by > 0 ? 0 : -1), by > 0 ? list.length : list.length - 1);
  };
  const first = bound(start, by > 0 ? 0 : list.length - 1);
  const end = bound(stop, by > 0 ? list.length : -1);
  const found: Data[] = [];
  for (let at = first; by > 0 ? at < end : at > end; at += by) {
    const item = list[at];
    if (item !== undefined) found.push(item);
  }
  return found;
};
