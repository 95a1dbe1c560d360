import { exportedFunction } from '../exported-functions.ts';
import { literal } from '../signature.ts';
import type { ExpressionNode, ModuleSource, Sources } from '../source.ts';

/** Returns the names that `__virtual__` returns as literals; `computed` if it may return others. */
export const virtualNames = (
  sources: Sources,
  source: ModuleSource,
): { names: string[]; computed: boolean } | undefined => {
  const fun = exportedFunction(sources, source, '__virtual__');
  if (!fun) return undefined;
  const names: string[] = [];
  let computed = false;
  const visit = (node: ExpressionNode | null | undefined): void => {
    if (!node) return;
    if (node.type === 'ConditionalExpression') {
      visit(node.consequent);
      visit(node.alternate);
    } else if (node.type === 'LogicalExpression') {
      visit(node.right);
      if (node.operator !== '&&') visit(node.left);
    } else if (node.type === 'AwaitExpression') visit(node.argument);
    else if (node.type === 'TSAsExpression') visit(node.expression);
    else {
      const value = literal(node) ?? constantNamed(fun.source, node);
      if (typeof value === 'string') names.push(value);
      else if (value === undefined) computed ||= !isVerdict(node);
    }
  };
  if (fun.node.body.type === 'BlockStatement') returns(fun.node.body, visit);
  else visit(fun.node.body);
  return { names, computed };
};

const constantNamed = (source: ModuleSource, node: ExpressionNode): unknown => {
  const binding = node.type === 'Identifier' ? source.bindings.get(node.name) : undefined;
  return binding?.kind === 'value' ? literal(binding.node) : undefined;
};

/** `[false, reason]` and conditions are not names; a sum may be one. */
const isVerdict = (node: ExpressionNode): boolean =>
  node.type === 'BinaryExpression'
    ? node.operator !== '+'
    : ['ArrayExpression', 'UnaryExpression', 'BooleanLiteral'].includes(node.type);

/** Returns every `return` of a function body, without nested functions. */
const returns = (
  node: unknown,
  visit: (value: ExpressionNode | null | undefined) => void,
): void => {
  if (Array.isArray(node)) for (const item of node) returns(item, visit);
  if (typeof node !== 'object' || node === null || !('type' in node)) return;
  const { type } = node as { type: string };
  if (/Function|Method|^Class/.test(type)) return;
  if (type === 'ReturnStatement') visit((node as { argument?: ExpressionNode | null }).argument);
  else
    for (const [key, child] of Object.entries(node))
      if (key !== 'loc' && typeof child === 'object' && !key.endsWith('Comments'))
        returns(child, visit);
};
