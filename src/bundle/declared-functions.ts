import type { parse as Parse } from '@babel/parser';
import type { FunctionMeta, ModuleMeta, Param } from '../protocol/meta.ts';
import type { FoundModule } from './discover.ts';
import { type ExportedFunction, exportedFunctions } from './exported-functions.ts';
import { portableType, propertyName } from './portable-type.ts';
import type { Sources, TypeNode } from './source.ts';

/** A parameter whose type is valid in any file. */
type DeclaredParam = { readonly name: string; readonly type: string; readonly optional: boolean };

/** A function as it is declared for callers. */
export type DeclaredFunction = {
  readonly positional: readonly DeclaredParam[];
  readonly rest?: DeclaredParam;
  /** Undefined when the function takes no keywords. */
  readonly keywords?: readonly DeclaredParam[];
  readonly anyKeyword: boolean;
  readonly returns: string;
  readonly doc: string;
};

/**
 * Returns a function that reads a parameter's type from its text; undefined for a text that
 * contains names of its file.
 */
export const inputType = (
  parse: typeof Parse,
): ((text: string | undefined) => string | undefined) => {
  const seen = new Map<string, string | undefined>();
  return text => {
    if (text === undefined) return undefined;
    if (!seen.has(text)) seen.set(text, readType(parse, text));
    return seen.get(text);
  };
};

const readType = (parse: typeof Parse, text: string): string | undefined => {
  try {
    const { program } = parse(`type T = ${text}`, { plugins: ['typescript'] });
    const [declaration] = program.body;
    return declaration?.type === 'TSTypeAliasDeclaration'
      ? portableType(declaration.typeAnnotation, 'in')
      : undefined;
  } catch {
    return undefined;
  }
};

/** Finds the functions of a module by the names of their exports. */
export const functionsByExport = (
  sources: Sources,
  found: FoundModule,
): ReadonlyMap<string, ExportedFunction> =>
  new Map(found.files.flatMap(file => exportedFunctions(sources, sources.open(file))));

/**
 * Returns the return type of a function without its promise; undefined if it is missing or not
 * portable.
 */
export const returnType = (
  sources: Sources,
  fun: ExportedFunction | undefined,
): string | undefined => {
  const annotation = fun && (fun.node as { returnType?: { typeAnnotation?: TypeNode } }).returnType;
  const node = annotation?.typeAnnotation;
  return fun && node && portableType(node, 'out', { sources, source: fun.source });
};

/** Declares a function by its description. */
export const declareFunction = (
  { signature, doc }: FunctionMeta,
  typeOf: (text: string | undefined) => string | undefined,
  returns: string,
  otherType: (param: Param, position: number) => string = () => 'unknown',
): DeclaredFunction => {
  const param = (from: Param, at = -1): DeclaredParam => ({
    name: from.name,
    type: typeOf(from.type ?? inferredType(from.default)) ?? otherType(from, at),
    optional: from.optional === true,
  });
  const { rest } = signature;
  return {
    positional: signature.positional.map((from, at) => param(from, at)),
    ...(rest ? { rest: { ...param(rest), type: elementOf(typeOf(rest.type) ?? '') } } : {}),
    ...(signature.keywords || signature.anyKeyword
      ? { keywords: (signature.keywords ?? []).map(from => param(from)) }
      : {}),
    anyKeyword: signature.anyKeyword === true,
    returns,
    doc: firstSentence(doc ?? ''),
  };
};

/** The type that TypeScript infers for a parameter from its default. */
const inferredType = (fallback: Param['default']): string | undefined =>
  typeof fallback === 'string' || typeof fallback === 'number' || typeof fallback === 'boolean'
    ? typeof fallback
    : undefined;

const elementOf = (list: string): string => /^readonly (.*)\[\]$/.exec(list)?.[1] ?? 'unknown';

const firstSentence = (text: string): string =>
  (/^[\s\S]*?[.](?=\s|$)/.exec(text)?.[0] ?? text)
    .replace(/\s+/g, ' ')
    .replaceAll('*/', '*\\/')
    .trim();

/**
 * Merges the declarations of functions with one name, of which each host has one (`pkg.install`).
 */
export const mergeFunctions = (all: readonly DeclaredFunction[]): DeclaredFunction | undefined => {
  const [first, ...others] = all;
  return first && others.reduce(mergeTwo, first);
};

const mergeTwo = (a: DeclaredFunction, b: DeclaredFunction): DeclaredFunction => {
  const length = Math.max(a.positional.length, b.positional.length);
  const positional = Array.from({ length }, (_, at) =>
    mergeParams(a.positional[at], b.positional[at]),
  ).filter(param => param !== undefined);
  const names = new Set([...(a.keywords ?? []), ...(b.keywords ?? [])].map(({ name }) => name));
  const byName = (from: DeclaredFunction, name: string) =>
    from.keywords?.find(keyword => keyword.name === name);
  const keywords = [...names]
    .map(name => mergeParams(byName(a, name), byName(b, name)))
    .filter(param => param !== undefined);
  const rest = a.rest && b.rest ? mergeParams(a.rest, b.rest) : (a.rest ?? b.rest);
  return {
    positional,
    ...(rest ? { rest } : {}),
    ...(a.keywords || b.keywords ? { keywords } : {}),
    anyKeyword: a.anyKeyword || b.anyKeyword,
    returns: union(a.returns, b.returns),
    doc: a.doc || b.doc,
  };
};

const mergeParams = (
  a: DeclaredParam | undefined,
  b: DeclaredParam | undefined,
): DeclaredParam | undefined => {
  if (!a || !b) return (a ?? b) && ({ ...(a ?? b), optional: true } as DeclaredParam);
  return { name: a.name, type: union(a.type, b.type), optional: a.optional || b.optional };
};

const union = (a: string, b: string): string => {
  if (a === 'any' || b === 'any') return 'any';
  return [...new Set([...parts(a), ...parts(b)])].join(' | ');
};

/** Returns the members of a union without brackets; otherwise the type as a whole. */
const parts = (type: string): string[] =>
  /^[\w\s|]*$/.test(type) ? type.split(' | ') : [`(${type})`];

/** Writes the type of a function for `SaltFunctions`. */
export const functionTypeText = (fun: DeclaredFunction): string => {
  const { positional, rest, keywords, anyKeyword, returns } = fun;
  const lastRequired = positional.findLastIndex(({ optional }) => !optional);
  const named = keywords
    ? [...keywords.map(member), ...(anyKeyword ? ['[keyword: string]: unknown'] : [])]
    : undefined;
  const options = named === undefined ? 'null' : `{ ${named.join('; ')} }`;
  const places = positional.map(({ name, type, optional }, at) =>
    at < lastRequired && optional
      ? `${label(name)}: ${type} | undefined`
      : `${label(name)}${optional ? '?' : ''}: ${type}`,
  );
  if (rest) {
    const item = named === undefined ? rest.type : `${rest.type} | Named<${options}>`;
    places.push(`...${label(rest.name)}: (${item})[]`);
  }
  const byName = positional.length > 0 ? `, { ${positional.map(member).join('; ')} }` : '';
  return `TypedFunction<[${places.join(', ')}], ${rest ? 'null' : options}, ${returns}${byName}>`;
};

const member = ({ name, type, optional }: DeclaredParam): string =>
  `${propertyName(name)}${optional ? '?' : ''}: ${type}`;

const label = (name: string): string =>
  reserved.test(name) ? `${name}_` : name.replace(/[^\w$]/g, '_');

/** TypeScript 7 parses some of these as a type instead of a tuple label. */
const reserved =
  /^(?:break|case|catch|class|const|continue|debugger|default|delete|do|else|enum|export|extends|false|finally|for|function|if|import|in|infer|instanceof|new|null|return|super|switch|this|throw|true|try|typeof|var|void|while|with|readonly|keyof|unique|asserts|is)$/;

/** Returns the functions of modules that share a name, by full name and sorted. */
export const functionsByName = (
  modules: readonly (readonly [
    names: readonly string[],
    functions: ReadonlyMap<string, DeclaredFunction>,
  ])[],
): ReadonlyMap<string, DeclaredFunction> => {
  const groups = new Map<string, DeclaredFunction[]>();
  for (const [names, functions] of modules)
    for (const module of names)
      for (const [name, fun] of functions) {
        const full = `${module}.${name}`;
        groups.set(full, [...(groups.get(full) ?? []), fun]);
      }
  const merged = [...groups].flatMap(([name, all]): [string, DeclaredFunction][] => {
    const one = mergeFunctions(all);
    return one ? [[name, one]] : [];
  });
  return new Map(merged.sort(([a], [b]) => (a < b ? -1 : 1)));
};

/** Returns the possible names of a module, as far as its source shows them. */
export const namesOfModule = (meta: ModuleMeta): readonly string[] => {
  const virtual = [...new Set([meta.virtualname, ...(meta.virtual ?? [])])];
  const names = virtual.filter(name => name !== undefined);
  return names.length > 0 ? names : [meta.file];
};

/** Writes functions as members of an interface, one a line. */
export const memberLines = (functions: ReadonlyMap<string, DeclaredFunction>): string[] =>
  [...functions].map(([name, declared]) =>
    memberLine(name, functionTypeText(declared), declared.doc),
  );

/** Writes a member of an interface with its documentation. */
export const memberLine = (name: string, type: string, doc: string): string =>
  `${doc ? `/** ${doc} */\n` : ''}${JSON.stringify(name)}: ${type};`;

/** Writes an interface; `head` is everything before its brace. */
export const interfaceText = (head: string, lines: readonly string[]): string =>
  `${head} {\n${lines.map(line => `  ${line.replaceAll('\n', '\n  ')}\n`).join('')}}\n`;

/** The types of this package that declarations of functions name. */
export const declaredTypes = [
  'LowChunk',
  'StateReturn',
  'DataDict',
  'DataInput',
  'GrainsOf',
  'Named',
  'TypedFunction',
  'UntypedFunction',
  'UntypedHelper',
] as const;

/** Finds the types of this package that a text of declarations names. */
export const typesIn = (text: string): (typeof declaredTypes)[number][] =>
  declaredTypes.filter(name => new RegExp(`\\b${name}\\b`).test(text));
