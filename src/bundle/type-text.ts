import type { ModuleSource, Sources, TypeDeclaration, TypeMember, TypeNode } from './source.ts';
import { joinDocLines, parseDocComment } from './tsdoc.ts';

type MemberType = {
  readonly type: string;
  readonly optional: boolean;
  readonly doc?: string;
};
export type Members = {
  readonly members: ReadonlyMap<string, MemberType>;
  /** Whether other names are allowed, too. */
  readonly open: boolean;
  /** Part of the type could not be read, for example that of a package. */
  readonly unread?: true;
};

const depthLimit = 8;

/**
 * Returns a type as text in which names of the module's own files are replaced by their types, so
 * that it can be checked without the file (`Mode` becomes `string | number`).
 */
export const typeText = (
  sources: Sources,
  source: ModuleSource,
  node: TypeNode,
  depth = 0,
): string => {
  const written = slice(source, node);
  if (depth > depthLimit) return written;
  const inner = (child: TypeNode): string => typeText(sources, source, child, depth + 1);
  switch (node.type) {
    case 'TSUnionType':
      return node.types.map(inner).join(' | ');
    case 'TSParenthesizedType':
      return `(${inner(node.typeAnnotation)})`;
    case 'TSArrayType':
      return bracket(inner(node.elementType));
    case 'TSTypeOperator':
      return node.operator === 'readonly' ? inner(node.typeAnnotation) : written;
    case 'TSTypeReference': {
      if (node.typeName.type !== 'Identifier') return written;
      const name = node.typeName.name;
      const argument = node.typeParameters?.params[0];
      if ((name === 'Array' || name === 'ReadonlyArray') && argument)
        return bracket(inner(argument));
      if (name === 'Readonly' && argument) return inner(argument);
      const found = ownWords.has(name) ? undefined : lookUpType(sources, source, name);
      if (found?.declaration.kind === 'alias')
        return typeText(sources, found.source, found.declaration.node, depth + 1);
      return found?.declaration.kind === 'interface' ? '{}' : written;
    }
    default:
      return written;
  }
};

/** Names of `tsalt-ssh/module` that are clearer than their definitions. */
const ownWords = new Set(['Plain', 'PlainDict', 'Json', 'LowChunk', 'StateReturn']);

const bracket = (text: string): string => (/[|&\s]/.test(text) ? `(${text})[]` : `${text}[]`);

const slice = (
  source: ModuleSource,
  node: { start?: number | null; end?: number | null },
): string =>
  source.text
    .slice(node.start ?? 0, node.end ?? 0)
    .replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();

/** Returns the named members of an object type; undefined if it is not one or cannot be found. */
export const memberTypes = (
  sources: Sources,
  source: ModuleSource,
  node: TypeNode,
  depth = 0,
): Members | undefined => {
  if (depth > depthLimit) return undefined;
  switch (node.type) {
    case 'TSTypeLiteral':
      return fromMembers(sources, source, node.members);
    case 'TSParenthesizedType':
      return memberTypes(sources, source, node.typeAnnotation, depth + 1);
    case 'TSIntersectionType':
      return merge(node.types.map(part => memberTypes(sources, source, part, depth + 1)));
    case 'TSTypeReference':
      return fromReference(sources, source, node, depth);
    case 'TSMappedType':
      return fromMapped(sources, source, node, depth);
    default:
      return undefined;
  }
};

/** Reads `{ [k in 'a' | 'b']?: T }`; if the keys are not strings, any name is allowed. */
const fromMapped = (
  sources: Sources,
  source: ModuleSource,
  node: Extract<TypeNode, { type: 'TSMappedType' }>,
  depth: number,
): Members => {
  const constraint = node.typeParameter.constraint ?? undefined;
  const names = constraint && keyNames(sources, source, constraint, depth + 1);
  const type = node.typeAnnotation ? typeText(sources, source, node.typeAnnotation) : 'unknown';
  const optional = node.optional === true || node.optional === '+';
  return named(names, { type, optional });
};

const named = (names: readonly string[] | undefined, member: MemberType): Members => ({
  members: new Map(names?.map(name => [name, member])),
  open: names === undefined,
});

/**
 * Returns the strings in a type of keys; undefined if any string is allowed or the type cannot be
 * read.
 */
const keyNames = (
  sources: Sources,
  source: ModuleSource,
  node: TypeNode,
  depth: number,
): readonly string[] | undefined => {
  if (depth > depthLimit) return undefined;
  const inner = (child: TypeNode) => keyNames(sources, source, child, depth + 1);
  switch (node.type) {
    case 'TSLiteralType':
      return node.literal.type === 'StringLiteral' ? [node.literal.value] : undefined;
    case 'TSParenthesizedType':
      return inner(node.typeAnnotation);
    case 'TSUnionType': {
      const parts = node.types.map(inner);
      return parts.every(part => part !== undefined) ? parts.flat() : undefined;
    }
    case 'TSTypeOperator': {
      const of =
        node.operator === 'keyof'
          ? memberTypes(sources, source, node.typeAnnotation, depth + 1)
          : undefined;
      return of && !of.open ? [...of.members.keys()] : undefined;
    }
    case 'TSTypeReference': {
      const found =
        node.typeName.type === 'Identifier'
          ? lookUpType(sources, source, node.typeName.name)
          : undefined;
      return found?.declaration.kind === 'alias'
        ? keyNames(sources, found.source, found.declaration.node, depth + 1)
        : undefined;
    }
    default:
      return undefined;
  }
};

const openDicts = new Set(['Record', 'PlainDict']);

const fromReference = (
  sources: Sources,
  source: ModuleSource,
  node: Extract<TypeNode, { type: 'TSTypeReference' }>,
  depth: number,
): Members | undefined => {
  if (node.typeName.type !== 'Identifier') return undefined;
  const name = node.typeName.name;
  const [argument, keys] = node.typeParameters?.params ?? [];
  const of = (type: TypeNode | undefined): Members | undefined =>
    type && memberTypes(sources, source, type, depth + 1);
  if (name === 'Readonly') return of(argument);
  if (name === 'Partial')
    return mapMembers(of(argument), member => ({ ...member, optional: true }));
  if (name === 'Required')
    return mapMembers(of(argument), member => ({ ...member, optional: false }));
  if (name === 'Pick' || name === 'Omit') {
    const picked = new Set(keys && keyNames(sources, source, keys, depth + 1));
    return filterMembers(of(argument), key => picked.has(key) === (name === 'Pick'));
  }
  const found = lookUpType(sources, source, name);
  if (!found && name === 'Record' && argument && keys) {
    const names = keyNames(sources, source, argument, depth + 1);
    return named(names, { type: typeText(sources, source, keys), optional: false });
  }
  if (!found) return openDicts.has(name) ? { members: new Map(), open: true } : undefined;
  if (found.declaration.kind === 'alias')
    return memberTypes(sources, found.source, found.declaration.node, depth + 1);
  return fromInterface(sources, found.source, found.declaration, depth);
};

const fromInterface = (
  sources: Sources,
  source: ModuleSource,
  declaration: Extract<TypeDeclaration, { kind: 'interface' }>,
  depth: number,
): Members | undefined => {
  const bases = declaration.bases.map(base => {
    const found = lookUpType(sources, source, base);
    if (!found || depth > depthLimit) return undefined;
    return found.declaration.kind === 'alias'
      ? memberTypes(sources, found.source, found.declaration.node, depth + 1)
      : fromInterface(sources, found.source, found.declaration, depth + 1);
  });
  return merge([...bases, fromMembers(sources, source, declaration.members)]);
};

const fromMembers = (
  sources: Sources,
  source: ModuleSource,
  nodes: readonly TypeMember[],
): Members => {
  const members = new Map<string, MemberType>();
  let open = false;
  for (const node of nodes) {
    if (node.type === 'TSIndexSignature') open = true;
    if (node.type !== 'TSPropertySignature') continue;
    const { key } = node;
    const name =
      key.type === 'Identifier' ? key.name : key.type === 'StringLiteral' ? key.value : undefined;
    if (name === undefined) continue;
    const annotation = node.typeAnnotation?.typeAnnotation;
    const comment = node.leadingComments?.at(-1);
    const doc = comment?.value.startsWith('*')
      ? joinDocLines(parseDocComment(comment.value).text)
      : undefined;
    members.set(name, {
      type: annotation ? typeText(sources, source, annotation) : 'unknown',
      optional: node.optional === true,
      ...(doc ? { doc } : {}),
    });
  }
  return { members, open };
};

const merge = (parts: readonly (Members | undefined)[]): Members | undefined => {
  const known = parts.filter(part => part !== undefined);
  if (known.length === 0) return undefined;
  return {
    members: new Map(known.flatMap(part => [...part.members])),
    open: known.some(part => part.open),
    ...(known.length < parts.length || known.some(part => part.unread) ? { unread: true } : {}),
  };
};

const mapMembers = (
  from: Members | undefined,
  change: (member: MemberType) => MemberType,
): Members | undefined =>
  from && {
    ...from,
    members: new Map([...from.members].map(([key, member]) => [key, change(member)])),
  };

const filterMembers = (
  from: Members | undefined,
  keep: (key: string) => boolean,
): Members | undefined =>
  from && { ...from, members: new Map([...from.members].filter(([key]) => keep(key))) };

type Found = {
  readonly source: ModuleSource;
  readonly declaration: Exclude<TypeDeclaration, { kind: 'import' }>;
};

/** Finds the declaration of a type by its name in a file, following imports. */
export const lookUpType = (
  sources: Sources,
  source: ModuleSource,
  name: string,
  depth = 0,
): Found | undefined => {
  const declaration = source.types.get(name);
  if (!declaration || depth > depthLimit) return undefined;
  if (declaration.kind !== 'import') return { source, declaration };
  const file = sources.resolve(source.path, declaration.from);
  if (file === undefined) return undefined;
  try {
    return lookUpType(sources, sources.open(file), declaration.name, depth + 1);
  } catch {
    return undefined;
  }
};
