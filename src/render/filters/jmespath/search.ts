import { type Data, isDict } from '../../../data/value.ts';
import { type Argument, callFunction, isEqual, isNumber } from './functions.ts';
import { type Node, parseQuery } from './parse.ts';

/** What a JMESPath query finds in data (jmespath.org); nothing found is `null`. */
export const searchData = (data: Data, query: string): Data => evaluate(parseQuery(query), data);

const evaluate = (node: Node, value: Data): Data => {
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
      return value === null ? null : node.items.map(item => evaluate(item, value));
    case 'dict':
      return value === null
        ? null
        : new Map(node.items.map(([name, item]) => [name, evaluate(item, value)]));
    case 'chain':
      return evaluate(node.right, evaluate(node.left, value));
    case 'compare':
      return compare(node.operator, evaluate(node.left, value), evaluate(node.right, value));
    case 'call':
      return callFunction(
        node.name,
        node.args.map(arg => argumentOf(arg, value)),
      );
    case 'reference':
      throw new TypeError('in JMESPath `&` stands only before an argument of a function');
    default:
      return combine(node, value);
  }
};

const argumentOf = (node: Node, value: Data): Argument =>
  node.kind === 'reference'
    ? { value: null, each: item => evaluate(node.of, item) }
    : { value: evaluate(node, value), each: undefined };

const combine = (
  node: Exclude<Node, { kind: 'reference' | 'call' | 'compare' }>,
  value: Data,
): Data => {
  switch (node.kind) {
    case 'not':
      return !isTrue(evaluate(node.of, value));
    case 'and': {
      const left = evaluate(node.left, value);
      return isTrue(left) ? evaluate(node.right, value) : left;
    }
    case 'or': {
      const left = evaluate(node.left, value);
      return isTrue(left) ? left : evaluate(node.right, value);
    }
    case 'flatten': {
      const list = evaluate(node.of, value);
      return Array.isArray(list) ? list.flat(1) : null;
    }
    case 'each':
      return project(evaluate(node.left, value), node.right);
    case 'values': {
      const dict = evaluate(node.left, value);
      return isDict(dict) ? project([...dict.values()], node.right) : null;
    }
    case 'filter': {
      const list = evaluate(node.left, value);
      if (!Array.isArray(list)) return null;
      return project(
        list.filter(item => isTrue(evaluate(node.test, item))),
        node.right,
      );
    }
    default:
      return null;
  }
};

const project = (list: Data, item: Node): Data =>
  Array.isArray(list)
    ? list.map(value => evaluate(item, value)).filter(found => found !== null)
    : null;

/** JMESPath's truth: zero is true. */
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
