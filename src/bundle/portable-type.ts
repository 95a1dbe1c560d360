import type { ModuleSource, Sources, TypeMember, TypeNode } from './source.ts';
import { lookUpType } from './type-text.ts';

/** Whether a type is of an argument (its lists and dicts may be read-only) or of a return. */
type Direction = 'in' | 'out';

type Names = { readonly sources: Sources; readonly source: ModuleSource };

const depthLimit = 12;

/** Thrown for a type that is valid only in its own file. */
class NotPortable extends Error {}

/**
 * Rewrites a type for another file: names of the module's files are replaced by their types.
 * Undefined if that is impossible.
 *
 * @param names the file in which names are looked up; without it, a name makes it impossible
 */
export const portableType = (
  node: TypeNode,
  direction: Direction,
  names?: Names,
): string | undefined => {
  try {
    const text = print(node, direction, names, 0);
    return text.length > lengthLimit ? undefined : text;
  } catch (error) {
    if (error instanceof NotPortable) return undefined;
    throw error;
  }
};

const lengthLimit = 600;

const keywords: Readonly<Record<string, string>> = {
  TSStringKeyword: 'string',
  TSNumberKeyword: 'number',
  TSBooleanKeyword: 'boolean',
  TSNullKeyword: 'null',
  TSUndefinedKeyword: 'undefined',
  TSVoidKeyword: 'void',
  TSNeverKeyword: 'never',
  TSUnknownKeyword: 'unknown',
  TSAnyKeyword: 'any',
  TSBigIntKeyword: 'bigint',
  TSObjectKeyword: 'object',
};

/** Types of this package in the generated declarations. */
const ours: Readonly<Record<Direction, Readonly<Record<string, string>>>> = {
  in: { Plain: 'DataInput', Json: 'DataInput', PlainDict: '{ readonly [key: string]: DataInput }' },
  out: { Plain: 'any', Json: 'any', PlainDict: 'DataDict' },
};
const known = new Set(['StateReturn', 'LowChunk']);
const globals = new Set(['Uint8Array', 'Date', 'RegExp', 'URL', 'Error']);
const generics = new Set(['Record', 'Partial', 'Required', 'NonNullable', 'Map', 'Set']);

const print = (node: TypeNode, to: Direction, names: Names | undefined, depth: number): string => {
  if (depth > depthLimit) throw new NotPortable();
  const inner = (child: TypeNode): string => print(child, to, names, depth + 1);
  const simple = keywords[node.type];
  if (simple !== undefined) return simple;
  switch (node.type) {
    case 'TSLiteralType':
      return literalText(node);
    case 'TSUnionType':
      return [...new Set(node.types.map(inner))].join(' | ');
    case 'TSIntersectionType':
      return node.types.map(part => grouped(inner(part))).join(' & ');
    case 'TSParenthesizedType':
      return grouped(inner(node.typeAnnotation));
    case 'TSArrayType':
      return listOf(inner(node.elementType), to);
    case 'TSTupleType': {
      const items = node.elementTypes.map(item =>
        item.type === 'TSNamedTupleMember' ? inner(item.elementType) : inner(item),
      );
      return `${to === 'in' ? 'readonly ' : ''}[${items.join(', ')}]`;
    }
    case 'TSTypeOperator':
      if (node.operator !== 'readonly') throw new NotPortable();
      return inner(node.typeAnnotation);
    case 'TSTypeLiteral':
      return membersText(node.members, inner);
    case 'TSFunctionType':
      return '((...args: any[]) => any)';
    case 'TSTypeReference':
      return reference(node, to, names, depth);
    default:
      throw new NotPortable();
  }
};

const literalText = ({ literal }: Extract<TypeNode, { type: 'TSLiteralType' }>): string => {
  if (literal.type === 'StringLiteral') return JSON.stringify(literal.value);
  if (literal.type === 'NumericLiteral' || literal.type === 'BooleanLiteral')
    return String(literal.value);
  if (literal.type === 'TemplateLiteral') return 'string';
  if (literal.type === 'UnaryExpression') return 'number';
  throw new NotPortable();
};

const grouped = (text: string): string =>
  /[|&\s]/.test(text) && !/^\{[^{}]*\}$|^\([^()]*\)$/.test(text) ? `(${text})` : text;

const listOf = (text: string, to: Direction): string =>
  to === 'in' ? `readonly ${grouped(text)}[]` : `${grouped(text)}[]`;

const membersText = (members: readonly TypeMember[], inner: (node: TypeNode) => string): string => {
  const parts = members.map(member => {
    const type =
      member.type === 'TSIndexSignature' || member.type === 'TSPropertySignature'
        ? member.typeAnnotation?.typeAnnotation
        : undefined;
    if (member.type === 'TSMethodSignature') return undefined;
    if (!type) throw new NotPortable();
    if (member.type === 'TSIndexSignature') return `[key: string]: ${inner(type)}`;
    if (member.type !== 'TSPropertySignature') throw new NotPortable();
    const { key } = member;
    const name =
      key.type === 'Identifier' ? key.name : key.type === 'StringLiteral' ? key.value : undefined;
    if (name === undefined || member.computed) throw new NotPortable();
    return `${propertyName(name)}${member.optional ? '?' : ''}: ${inner(type)}`;
  });
  return `{ ${parts.filter(part => part !== undefined).join('; ')} }`;
};

/** Quotes a name for an object type if necessary. */
export const propertyName = (name: string): string =>
  /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);

const reference = (
  node: Extract<TypeNode, { type: 'TSTypeReference' }>,
  to: Direction,
  names: Names | undefined,
  depth: number,
): string => {
  if (node.typeName.type !== 'Identifier') throw new NotPortable();
  const { name } = node.typeName;
  const given = node.typeParameters?.params ?? [];
  const inner = (child: TypeNode): string => print(child, to, names, depth + 1);
  const [first] = given;
  const own = ours[to][name];
  if (own !== undefined) return own;
  if (known.has(name)) return name;
  if ((name === 'Array' || name === 'ReadonlyArray') && first) return listOf(inner(first), to);
  if (name === 'Promise' && first) return inner(first);
  if (name === 'Buffer') return 'Uint8Array';
  if (name === 'Readonly' && first) return inner(first);
  const found = names && lookUpType(names.sources, names.source, name);
  const there = found && names && { ...names, source: found.source };
  if (found?.declaration.kind === 'alias')
    return grouped(print(found.declaration.node, to, there, depth + 1));
  if (found?.declaration.kind === 'interface') {
    if (found.declaration.bases.length > 0) throw new NotPortable();
    return membersText(found.declaration.members, child => print(child, to, there, depth + 1));
  }
  if (globals.has(name) && given.length === 0) return name;
  if (generics.has(name)) return `${name}<${given.map(inner).join(', ')}>`;
  throw new NotPortable();
};
