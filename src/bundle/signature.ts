import type { FunctionSignature, Param } from '../protocol/meta.ts';
import type { Plain } from '../protocol/plain.ts';
import type {
  ExpressionNode,
  FunctionNode,
  ModuleSource,
  Parameter,
  Sources,
  TypeNode,
} from './source.ts';
import { memberTypes, typeText } from './type-text.ts';

type Docs = Readonly<Record<string, string>>;

/** Reads how a function is called, from its parameters and their TypeScript types. */
export const readSignature = (
  sources: Sources,
  source: ModuleSource,
  node: FunctionNode,
  docs: Docs,
): FunctionSignature => {
  const positional: Param[] = [];
  let rest: Param | undefined;
  let options: Pick<FunctionSignature, 'keywords' | 'anyKeyword'> = {};
  node.params.forEach((parameter, at) => {
    const { target, fallback } = unwrapDefault(parameter);
    if (target.type === 'RestElement') rest = readRest(sources, source, target, docs);
    else if (target.type === 'ObjectPattern') options = readOptions(sources, source, target, docs);
    else if (target.type === 'Identifier' && at === node.params.length - 1)
      options = readNamedOptions(sources, source, target, docs, isEmptyObject(fallback)) ?? {};
    if (target.type === 'ObjectPattern' || target.type === 'RestElement') return;
    if (options.keywords) return;
    positional.push(readPositional(sources, source, target, fallback, docs, at));
  });
  return { positional, ...(rest ? { rest } : {}), ...options };
};

type Target = Exclude<Parameter, { type: 'AssignmentPattern' }> | AssignmentLeft;
type AssignmentLeft = Extract<Parameter, { type: 'AssignmentPattern' }>['left'];

const unwrapDefault = (parameter: Parameter): { target: Target; fallback?: ExpressionNode } =>
  parameter.type === 'AssignmentPattern'
    ? { target: parameter.left, fallback: parameter.right }
    : { target: parameter };

const annotationOf = (node: object): TypeNode | undefined => {
  const annotation = (node as { typeAnnotation?: { type: string; typeAnnotation?: TypeNode } })
    .typeAnnotation;
  return annotation?.type === 'TSTypeAnnotation' ? annotation.typeAnnotation : undefined;
};

const readPositional = (
  sources: Sources,
  source: ModuleSource,
  target: Target,
  fallback: ExpressionNode | undefined,
  docs: Docs,
  at: number,
): Param => {
  const name = target.type === 'Identifier' ? target.name : `arg${at + 1}`;
  const annotation = annotationOf(target);
  const optional = (target.type === 'Identifier' && target.optional) || fallback !== undefined;
  return {
    name,
    ...(annotation ? { type: typeText(sources, source, annotation) } : {}),
    ...(optional ? { optional: true } : {}),
    ...readDefault(source, fallback),
    ...docOf(docs, name),
  };
};

const readRest = (
  sources: Sources,
  source: ModuleSource,
  target: Extract<Target, { type: 'RestElement' }>,
  docs: Docs,
): Param => {
  const name = target.argument.type === 'Identifier' ? target.argument.name : 'args';
  const annotation = annotationOf(target);
  const type = annotation && typeText(sources, source, annotation);
  return { name, ...(type ? { type } : {}), ...docOf(docs, name) };
};

/** `{ foo, bar = true, ...more }: { foo: string; bar?: boolean }`. */
const readOptions = (
  sources: Sources,
  source: ModuleSource,
  pattern: Extract<Target, { type: 'ObjectPattern' }>,
  docs: Docs,
): Pick<FunctionSignature, 'keywords' | 'anyKeyword'> => {
  const annotation = annotationOf(pattern);
  const types = annotation ? memberTypes(sources, source, annotation) : undefined;
  const keywords = new Map<string, Param>();
  let open = types?.open ?? false;
  for (const property of pattern.properties) {
    if (property.type === 'RestElement') {
      open ||= types === undefined || types.members.size === 0 || types.unread === true;
      continue;
    }
    const name = keyName(property.key);
    if (name === undefined) continue;
    const member = types?.members.get(name);
    const value = property.value;
    const fallback = value.type === 'AssignmentPattern' ? value.right : undefined;
    const optional = member ? member.optional : !types || types.open || types.unread === true;
    keywords.set(name, {
      name,
      ...(member?.type ? { type: member.type } : {}),
      ...(optional || fallback ? { optional: true } : {}),
      ...readDefault(source, fallback),
      ...docOf(docs, name, member?.doc),
    });
  }
  for (const [name, member] of types?.members ?? [])
    if (!keywords.has(name)) keywords.set(name, toParam(name, member, docs));
  return { keywords: [...keywords.values()], ...(open ? { anyKeyword: true } : {}) };
};

const optionNames = new Set(['options', 'opts', 'kwargs', 'keywords']);

const isEmptyObject = (fallback: ExpressionNode | undefined): boolean =>
  fallback?.type === 'ObjectExpression' && fallback.properties.length === 0;

/**
 * `options: Options = {}`: an options object that is destructured later. Under another name, it
 * counts as one if its default is `{}` and its type has members.
 */
const readNamedOptions = (
  sources: Sources,
  source: ModuleSource,
  target: Extract<Target, { type: 'Identifier' }>,
  docs: Docs,
  emptyByDefault: boolean,
): Pick<FunctionSignature, 'keywords' | 'anyKeyword'> | undefined => {
  const isNamedSo = optionNames.has(target.name);
  if (!isNamedSo && !emptyByDefault) return undefined;
  const annotation = annotationOf(target);
  if (!annotation) return target.name === 'kwargs' ? { keywords: [], anyKeyword: true } : undefined;
  const types = memberTypes(sources, source, annotation);
  if (!types || (types.members.size === 0 && !(isNamedSo && types.open))) return undefined;
  return {
    keywords: [...types.members].map(([name, member]) => toParam(name, member, docs)),
    ...(types.open || types.unread ? { anyKeyword: true } : {}),
  };
};

const toParam = (
  name: string,
  member: { type: string; optional: boolean; doc?: string },
  docs: Docs,
): Param => ({
  name,
  type: member.type,
  ...(member.optional ? { optional: true } : {}),
  ...docOf(docs, name, member.doc),
});

const docOf = (docs: Docs, name: string, own?: string): { doc?: string } => {
  const doc = Object.hasOwn(docs, name) ? docs[name] : own;
  return doc ? { doc } : {};
};

const keyName = (key: { type: string; name?: unknown; value?: unknown }): string | undefined =>
  key.type === 'Identifier'
    ? String(key.name)
    : key.type === 'StringLiteral'
      ? String(key.value)
      : undefined;

const readDefault = (
  source: ModuleSource,
  node: ExpressionNode | undefined,
): { default?: Plain | { code: string } } => {
  if (!node || (node.type === 'Identifier' && node.name === 'undefined')) return {};
  const value = literal(node);
  if (value !== undefined) return { default: value };
  return { default: { code: source.text.slice(node.start ?? 0, node.end ?? 0) } };
};

/** Returns the value of an expression that consists of literals only; undefined otherwise. */
export const literal = (node: ExpressionNode): Plain | undefined => {
  switch (node.type) {
    case 'StringLiteral':
    case 'NumericLiteral':
    case 'BooleanLiteral':
      return node.value;
    case 'NullLiteral':
      return null;
    case 'TemplateLiteral':
      return node.expressions.length === 0 ? node.quasis[0]?.value.cooked : undefined;
    case 'TSAsExpression':
    case 'TSSatisfiesExpression':
      return literal(node.expression);
    case 'UnaryExpression': {
      const value = node.operator === '-' ? literal(node.argument) : undefined;
      return typeof value === 'number' ? -value : undefined;
    }
    case 'ArrayExpression':
      return literalList(node.elements);
    case 'ObjectExpression':
      return literalDict(node.properties);
    default:
      return undefined;
  }
};

const literalList = (
  elements: Extract<ExpressionNode, { type: 'ArrayExpression' }>['elements'],
): Plain[] | undefined => {
  const list: Plain[] = [];
  for (const element of elements) {
    const value = element && element.type !== 'SpreadElement' ? literal(element) : undefined;
    if (value === undefined) return undefined;
    list.push(value);
  }
  return list;
};

const literalDict = (
  properties: Extract<ExpressionNode, { type: 'ObjectExpression' }>['properties'],
): { [key: string]: Plain } | undefined => {
  const entries: [string, Plain][] = [];
  for (const property of properties) {
    if (property.type !== 'ObjectProperty' || property.computed) return undefined;
    const name = keyName(property.key);
    const value = literal(property.value as ExpressionNode);
    if (name === undefined || value === undefined) return undefined;
    entries.push([name, value]);
  }
  return Object.fromEntries(entries);
};
