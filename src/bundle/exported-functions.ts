import type { Comments, ExpressionNode, FunctionNode, ModuleSource, Sources } from './source.ts';
import { docOf } from './tsdoc.ts';

/** A function, its file and the comments that document it. */
export type ExportedFunction = {
  readonly source: ModuleSource;
  readonly node: FunctionNode;
  readonly comments: Comments;
  /** The comments above the functions that it is made of: they describe the other parameters. */
  readonly beneath?: readonly Comments[];
};

/** Returns the functions that a file exports, by exported name, following re-exports. */
export const exportedFunctions = (
  sources: Sources,
  source: ModuleSource,
  seen = new Set<string>(),
): [string, ExportedFunction][] => {
  if (seen.has(source.path)) return [];
  seen.add(source.path);
  const own = [...source.exports.keys()].flatMap((name): [string, ExportedFunction][] => {
    const fun = exportedFunction(sources, source, name);
    return fun ? [[name, fun]] : [];
  });
  const others = source.exportAll.flatMap(from => {
    const file = sources.resolve(source.path, from);
    return file === undefined ? [] : exportedFunctions(sources, sources.open(file), seen);
  });
  return [...own, ...others.filter(([name]) => !source.exports.has(name))];
};

/** Returns the function that a file exports under this name, in whichever file it is defined. */
export const exportedFunction = (
  sources: Sources,
  source: ModuleSource,
  name: string,
  depth = 0,
): ExportedFunction | undefined => {
  const exported = source.exports.get(name);
  if (depth > 8) return undefined;
  if (!exported) {
    for (const from of source.exportAll) {
      const file = sources.resolve(source.path, from);
      const found = file && exportedFunction(sources, sources.open(file), name, depth + 1);
      if (found) return found;
    }
    return undefined;
  }
  if ('local' in exported) return localFunction(sources, source, exported.local, depth);
  const file = sources.resolve(source.path, exported.from);
  return file === undefined
    ? undefined
    : exportedFunction(sources, sources.open(file), exported.name, depth + 1);
};

const localFunction = (
  sources: Sources,
  source: ModuleSource,
  name: string,
  depth: number,
): ExportedFunction | undefined => {
  const binding = source.bindings.get(name);
  if (!binding || depth > 8) return undefined;
  if (binding.kind === 'function')
    return { source, node: binding.node, comments: binding.comments };
  if (binding.kind === 'import') {
    const file = sources.resolve(source.path, binding.from);
    return file === undefined
      ? undefined
      : exportedFunction(sources, sources.open(file), binding.name, depth + 1);
  }
  const found = functionIn(sources, source, binding.node, depth);
  if (!found) return undefined;
  return docOf(binding.comments)
    ? { ...found, comments: binding.comments, beneath: [found.comments, ...(found.beneath ?? [])] }
    : found;
};

/**
 * Returns the function that an expression evaluates to: itself, a name, the last function passed to
 * a wrapper, or the function that a factory returns.
 */
const functionIn = (
  sources: Sources,
  source: ModuleSource,
  node: ExpressionNode,
  depth: number,
): ExportedFunction | undefined => {
  switch (node.type) {
    case 'ArrowFunctionExpression':
    case 'FunctionExpression':
      return { source, node, comments: [] };
    case 'Identifier':
      return localFunction(sources, source, node.name, depth + 1);
    case 'TSAsExpression':
    case 'TSSatisfiesExpression':
    case 'TSNonNullExpression':
    case 'ParenthesizedExpression':
      return functionIn(sources, source, node.expression, depth + 1);
    case 'CallExpression':
      for (const argument of [...node.arguments].reverse()) {
        if (argument.type === 'SpreadElement' || argument.type === 'ArgumentPlaceholder') continue;
        const found = functionIn(sources, source, argument, depth + 1);
        if (found) return found;
      }
      return node.callee.type === 'Identifier'
        ? madeFunction(sources, source, node.callee.name, depth + 1)
        : undefined;
    default:
      return undefined;
  }
};

/** Returns the function that `name` returns, documented by the comment above `name`. */
const madeFunction = (
  sources: Sources,
  source: ModuleSource,
  name: string,
  depth: number,
): ExportedFunction | undefined => {
  const maker = localFunction(sources, source, name, depth);
  const made = maker?.node.body;
  return maker && (made?.type === 'ArrowFunctionExpression' || made?.type === 'FunctionExpression')
    ? { ...maker, node: made }
    : undefined;
};
