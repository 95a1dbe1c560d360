import type { FunctionMeta, ModuleMeta, Signature, UnknownArguments } from '../protocol/meta.ts';
import type { FoundModule } from './discover.ts';
import { literal, readSignature } from './signature.ts';
import type { Binding, Comments, Expression, FunctionNode, Source, Sources } from './source.ts';
import { type DocComment, parseDocComment } from './tsdoc.ts';

/** A module as its source tells, with what the loader must know besides. */
export type Described = {
  readonly meta: ModuleMeta;
  /** Names that `__virtual__` may return. */
  readonly virtual: readonly string[];
  /** `__virtual__` computes its name. */
  readonly anyName: boolean;
};

/** Exports of a state module that the engine calls, not the user. */
const hookNames = new Set([
  'mod_init',
  'mod_watch',
  'mod_aggregate',
  'mod_run_check',
  'mod_run_check_cmd',
]);

/** Reads signatures and documentation of a module. A module with a syntax error comes back `broken`. */
export const describeModule = (sources: Sources, found: FoundModule): Described => {
  const path = found.files[0] ?? found.zip ?? found.name;
  const base = {
    kind: found.kind,
    file: found.name,
    path,
    builtin: found.builtin,
    ...(found.saltenv === undefined ? {} : { saltenv: found.saltenv }),
  };
  const broken = (reason: string): Described => ({
    meta: { ...base, functions: [], broken: reason },
    virtual: [],
    anyName: false,
  });
  if (found.broken !== undefined) return broken(found.broken);
  let parsed: readonly Source[];
  try {
    parsed = found.files.map(file => sources.open(file));
    return readModule(sources, parsed, base);
  } catch (error) {
    return broken(syntaxReason(error, path));
  }
};

const syntaxReason = (error: unknown, path: string): string => {
  const { message = String(error), loc } = error as {
    message?: string;
    loc?: { line: number; column: number };
  };
  const text = message.replace(/\s*\(\d+:\d+\)$/, '').replace(/\.$/, '');
  return loc ? `${text} (${path}:${loc.line}:${loc.column + 1})` : `${text} (${path})`;
};

const readModule = (
  sources: Sources,
  parsed: readonly Source[],
  base: Pick<ModuleMeta, 'kind' | 'file' | 'path' | 'builtin' | 'saltenv'>,
): Described => {
  const constant = (name: string): unknown =>
    parsed.map(source => constantOf(sources, source, name)).find(value => value !== undefined);
  const aliases = Object.assign(
    {},
    ...parsed.map(source => constantOf(sources, source, '__func_alias__')),
  ) as Record<string, string>;
  const all = parsed.flatMap(source =>
    exportedFunctions(sources, source)
      .filter(([exportName]) => !exportName.startsWith('_'))
      .map(([exportName, fun]) =>
        describeFunction(sources, exportName, aliasOf(aliases, exportName), fun),
      ),
  );
  const isHook = ({ exportName }: FunctionMeta): boolean =>
    base.kind === 'state' && hookNames.has(exportName);
  const functions = all.filter(fun => !isHook(fun));
  const hooks = all.filter(isHook);
  const doc = parsed.map(moduleDoc).find(found => found !== undefined);
  const virtualname = constant('__virtualname__');
  const contracts = constant('__contracts__');
  const outputters = constant('__outputter__');
  const virtual = parsed.map(source => virtualNames(sources, source)).find(Boolean);
  const usesPillar = parsed.some(source => /\b__pillar__\b/.test(source.text));
  return {
    meta: {
      ...base,
      ...(typeof virtualname === 'string' ? { virtualname } : {}),
      ...(virtual?.names.length ? { virtual: virtual.names } : {}),
      ...(virtual?.computed ? { anyName: true } : {}),
      ...(doc?.text ? { doc: doc.text } : {}),
      ...(doc && Object.keys(doc.tags).length > 0 ? { tags: doc.tags } : {}),
      functions: functions.sort((a, b) => (a.name < b.name ? -1 : 1)),
      ...(hooks.length > 0 ? { hooks } : {}),
      ...(Array.isArray(contracts) ? { contracts: contracts.map(String) } : {}),
      ...(outputters && typeof outputters === 'object'
        ? { outputters: outputters as Record<string, string> }
        : {}),
      ...(usesPillar ? { usesPillar: true } : {}),
    },
    virtual: virtual?.names ?? [],
    anyName: virtual?.computed ?? false,
  };
};

const aliasOf = (aliases: Record<string, string>, name: string): string =>
  (Object.hasOwn(aliases, name) ? aliases[name] : undefined) ?? name;

type FoundFunction = {
  readonly source: Source;
  readonly node: FunctionNode;
  readonly comments: Comments;
};

/** Functions a file exports, re-exports followed. */
const exportedFunctions = (
  sources: Sources,
  source: Source,
  seen = new Set<string>(),
): [string, FoundFunction][] => {
  if (seen.has(source.path)) return [];
  seen.add(source.path);
  const own = [...source.exports.keys()].flatMap((name): [string, FoundFunction][] => {
    const fun = exportedFunction(sources, source, name);
    return fun ? [[name, fun]] : [];
  });
  const others = source.exportAll.flatMap(from => {
    const file = sources.resolve(source.path, from);
    return file === undefined ? [] : exportedFunctions(sources, sources.open(file), seen);
  });
  return [...own, ...others.filter(([name]) => !source.exports.has(name))];
};

const exportedFunction = (
  sources: Sources,
  source: Source,
  name: string,
  depth = 0,
): FoundFunction | undefined => {
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
  source: Source,
  name: string,
  depth: number,
): FoundFunction | undefined => {
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
  return hasDoc(binding.comments) ? { ...found, comments: binding.comments } : found;
};

/**
 * The function an expression stands for: itself, a name, the last function given to a wrapper, or
 * the function that a maker (a function that returns one) makes.
 */
const functionIn = (
  sources: Sources,
  source: Source,
  node: Expression,
  depth: number,
): FoundFunction | undefined => {
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

/** The function that `name` returns, documented by the comment above `name`. */
const madeFunction = (
  sources: Sources,
  source: Source,
  name: string,
  depth: number,
): FoundFunction | undefined => {
  const maker = localFunction(sources, source, name, depth);
  const made = maker?.node.body;
  return maker && (made?.type === 'ArrowFunctionExpression' || made?.type === 'FunctionExpression')
    ? { ...maker, node: made }
    : undefined;
};

const describeFunction = (
  sources: Sources,
  exportName: string,
  name: string,
  fun: FoundFunction,
): FunctionMeta => {
  const doc = docOf(fun.comments);
  const signature: Signature = readSignature(sources, fun.source, fun.node, doc?.params ?? {});
  return {
    name,
    exportName,
    signature,
    ...(doc?.text ? { doc: doc.text } : {}),
    ...(doc?.returns ? { returns: doc.returns } : {}),
    ...(doc && doc.examples.length > 0 ? { examples: doc.examples } : {}),
    ...(isUnknownArguments(doc?.tags.unknown) ? { unknown: doc.tags.unknown } : {}),
    line: fun.node.loc?.start.line ?? 1,
  };
};

const isUnknownArguments = (tag: string | undefined): tag is UnknownArguments =>
  tag === 'ignored' || tag === 'variables';

const hasDoc = (comments: Comments): boolean => docOf(comments) !== undefined;

const docOf = (comments: Comments): DocComment | undefined => {
  const last = comments.findLast(({ type, value }) => type === 'CommentBlock' && value[0] === '*');
  return last && parseDocComment(last.value);
};

/** The first comment of the file, unless it belongs to the first function. */
const moduleDoc = (source: Source): DocComment | undefined => {
  const first = source.body[0];
  const comments = (first?.leadingComments ?? []).filter(
    ({ type, value }) => type === 'CommentBlock' && value.startsWith('*'),
  );
  const comment = comments[0];
  if (!comment || !first) return undefined;
  const doc = parseDocComment(comment.value);
  const own = comments.length > 1 || 'module' in doc.tags || /@module\b/.test(comment.value);
  const declares = first.type === 'FunctionDeclaration' || first.type === 'ExportNamedDeclaration';
  return own || !declares ? doc : undefined;
};

const constantOf = (sources: Sources, source: Source, name: string): unknown => {
  const exported = source.exports.get(name);
  if (!exported) return undefined;
  if (!('local' in exported)) {
    const file = sources.resolve(source.path, exported.from);
    return file && constantOf(sources, sources.open(file), exported.name);
  }
  const binding: Binding | undefined = source.bindings.get(exported.local);
  return binding?.kind === 'value' ? literal(binding.node) : undefined;
};

/** The names that `__virtual__` returns as literals; `computed` when it may return others. */
const virtualNames = (
  sources: Sources,
  source: Source,
): { names: string[]; computed: boolean } | undefined => {
  const fun = exportedFunction(sources, source, '__virtual__');
  if (!fun) return undefined;
  const names: string[] = [];
  let computed = false;
  const visit = (node: Expression | null | undefined): void => {
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

const constantNamed = (source: Source, node: Expression): unknown => {
  const binding = node.type === 'Identifier' ? source.bindings.get(node.name) : undefined;
  return binding?.kind === 'value' ? literal(binding.node) : undefined;
};

/** `[false, reason]` and conditions are no names; a sum may be one. */
const isVerdict = (node: Expression): boolean =>
  node.type === 'BinaryExpression'
    ? node.operator !== '+'
    : ['ArrayExpression', 'UnaryExpression', 'BooleanLiteral'].includes(node.type);

/** Every `return` of a function body, nested functions left out. */
const returns = (node: unknown, visit: (value: Expression | null | undefined) => void): void => {
  if (Array.isArray(node)) for (const item of node) returns(item, visit);
  if (typeof node !== 'object' || node === null || !('type' in node)) return;
  const { type } = node as { type: string };
  if (/Function|Method|^Class/.test(type)) return;
  if (type === 'ReturnStatement') visit((node as { argument?: Expression | null }).argument);
  else
    for (const [key, child] of Object.entries(node))
      if (key !== 'loc' && typeof child === 'object' && !key.endsWith('Comments'))
        returns(child, visit);
};
