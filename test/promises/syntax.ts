import { readFileSync } from 'node:fs';
import { parse } from '@babel/parser';

/** A node of Babel's syntax tree; what a field holds depends on `type`. */
export type Node = { readonly type: string; readonly [field: string]: unknown };

export const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Node).type === 'string';

/**
 * Parses a test file.
 *
 * @param file path from the root of the project
 * @param text its text, when it is not read from the disk
 * @returns the program node
 * @throws if the file cannot be read or parsed
 */
export const parseFile = (file: string, text = readFileSync(file, 'utf8')): Node =>
  parse(text, { sourceType: 'module', plugins: ['typescript'] }).program as unknown as Node;

/**
 * Visits every node with the nodes above it, the nearest last.
 *
 * @param node where to start
 * @param visit called before the node's children are visited
 * @param above the nodes above `node`
 */
export const walk = (
  node: Node,
  visit: (node: Node, above: readonly Node[]) => void,
  above: readonly Node[] = [],
): void => {
  visit(node, above);
  const inner = [...above, node];
  for (const value of Object.values(node))
    for (const child of Array.isArray(value) ? value : [value])
      if (isNode(child)) walk(child, visit, inner);
};

/** The source of a node, on one line. */
export const sourceOf = (node: Node, text: string): string =>
  text.slice(Number(node.start), Number(node.end)).replace(/\s+/g, ' ');

/**
 * Returns a literal string or template, with `…` for what a template inserts; undefined for others.
 */
export const literal = (node: unknown): string | undefined => {
  if (!isNode(node)) return undefined;
  if (node.type === 'StringLiteral') return String(node.value);
  if (node.type !== 'TemplateLiteral') return undefined;
  return (node.quasis as { value: { cooked: string } }[])
    .map(({ value }) => value.cooked)
    .join('${…}');
};
