import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, extname, resolve } from 'node:path';
import type { parse as Parse } from '@babel/parser';

type Program = ReturnType<typeof Parse>['program'];
type Statement = Program['body'][number];
export type FunctionNode =
  | Extract<Statement, { type: 'FunctionDeclaration' }>
  | Extract<ExpressionNode, { type: 'ArrowFunctionExpression' | 'FunctionExpression' }>
  | Extract<ObjectMember, { type: 'ObjectMethod' }>;
export type ExpressionNode = Extract<Statement, { type: 'ExpressionStatement' }>['expression'];
export type Parameter = Extract<Statement, { type: 'FunctionDeclaration' }>['params'][number];
type ObjectMember = Extract<ExpressionNode, { type: 'ObjectExpression' }>['properties'][number];
export type TypeNode = Extract<ExpressionNode, { type: 'TSAsExpression' }>['typeAnnotation'];
export type TypeMember = Extract<TypeNode, { type: 'TSTypeLiteral' }>['members'][number];
type Comment = { readonly type: string; readonly value: string; readonly start?: number };

/** A top-level name of a file: its value and the node with its documentation. */
export type Binding =
  | { readonly kind: 'function'; readonly node: FunctionNode; readonly comments: Comments }
  | {
      readonly kind: 'value';
      readonly node: ExpressionNode;
      readonly comments: Comments;
      readonly type?: TypeNode;
    }
  | { readonly kind: 'import'; readonly from: string; readonly name: string };

export type Comments = readonly Comment[];

/** A parsed source file. */
export type ModuleSource = {
  readonly path: string;
  readonly text: string;
  readonly body: readonly Statement[];
  /** Exported name -> local name, or a name of another file. */
  readonly exports: ReadonlyMap<string, Exported>;
  /** Files all of whose exports this file exports too. */
  readonly exportAll: readonly string[];
  readonly bindings: ReadonlyMap<string, Binding>;
  readonly types: ReadonlyMap<string, TypeDeclaration>;
  /** Some exports have names that are only known at run time. */
  readonly hasComputedExports: boolean;
};

type Exported = { readonly local: string } | { readonly from: string; readonly name: string };

export type TypeDeclaration =
  | { readonly kind: 'alias'; readonly node: TypeNode }
  | {
      readonly kind: 'interface';
      readonly members: readonly TypeMember[];
      readonly bases: readonly string[];
    }
  | { readonly kind: 'import'; readonly from: string; readonly name: string };

/** Reads and caches sources; `files` lists those that were read, for caches. */
export type Sources = {
  readonly open: (path: string) => ModuleSource;
  /** Returns the file of a relative import; undefined for packages and missing files. */
  readonly resolve: (from: string, specifier: string) => string | undefined;
  readonly files: ReadonlySet<string>;
  /** Returns sources with the same cache and a separate list of files. */
  readonly scoped: () => Sources;
};

export const createSources = (
  parse: typeof Parse,
  known: Map<string, ModuleSource> = new Map(),
): Sources => {
  const files = new Set<string>();
  return {
    files,
    resolve: resolveImport,
    scoped: () => createSources(parse, known),
    open: path => {
      files.add(path);
      const found = known.get(path) ?? readSource(parse, path);
      known.set(path, found);
      return found;
    },
  };
};

const extensions = ['.ts', '.mts', '.js', '.mjs', '.cjs'];

const resolveImport = (from: string, specifier: string): string | undefined => {
  if (!specifier.startsWith('.')) return undefined;
  const base = resolve(dirname(from), specifier);
  const candidates = [
    base,
    base.replace(/\.([mc]?)js$/, '.$1ts'),
    ...extensions.map(extension => base + extension),
    ...extensions.map(extension => `${base}/index${extension}`),
  ];
  return candidates.find(path => existsSync(path) && statSync(path).isFile());
};

const readSource = (parse: typeof Parse, path: string): ModuleSource => {
  const text = readFileSync(path, 'utf8');
  const typescript = /\.m?ts$/.test(path);
  const { program } = parse(text, {
    sourceType: extname(path) === '.cjs' ? 'script' : 'unambiguous',
    sourceFilename: path,
    plugins: typescript ? ['typescript'] : [],
    allowReturnOutsideFunction: !typescript,
  });
  const collected: Collected = {
    exports: new Map(),
    exportAll: [],
    bindings: new Map(),
    types: new Map(),
    hasPatterns: false,
  };
  for (const statement of program.body) collect(collected, statement);
  const hasComputedExports = collected.hasPatterns || computedExports.test(text);
  return { path, text, body: program.body, ...collected, hasComputedExports };
};

type Collected = {
  exports: Map<string, Exported>;
  exportAll: string[];
  bindings: Map<string, Binding>;
  types: Map<string, TypeDeclaration>;
  /** `export const { a, b } = …` */
  hasPatterns: boolean;
};

/** `exports[name] = …`, `module.exports = make()`, `Object.assign(exports, …)`. */
const computedExports =
  /\bexports\s*\[|\bmodule\.exports\s*=\s*(?![\s{=])|\bObject\.assign\(\s*(?:module\.)?exports\b/;

const collect = (into: Collected, statement: Statement): void => {
  switch (statement.type) {
    case 'ImportDeclaration':
      collectImport(into, statement);
      return;
    case 'ExportAllDeclaration':
      into.exportAll.push(statement.source.value);
      return;
    case 'ExportNamedDeclaration':
      collectExport(into, statement);
      return;
    case 'ExpressionStatement':
      collectCommonJs(into, statement);
      return;
    default:
      collectDeclaration(into, statement, statement.leadingComments ?? []);
  }
};

const collectImport = (
  into: Collected,
  statement: Extract<Statement, { type: 'ImportDeclaration' }>,
): void => {
  const from = statement.source.value;
  for (const specifier of statement.specifiers) {
    if (specifier.type !== 'ImportSpecifier') continue;
    const name = nameOf(specifier.imported);
    into.bindings.set(specifier.local.name, { kind: 'import', from, name });
    into.types.set(specifier.local.name, { kind: 'import', from, name });
  }
};

const collectExport = (
  into: Collected,
  statement: Extract<Statement, { type: 'ExportNamedDeclaration' }>,
): void => {
  const { declaration, source } = statement;
  if (declaration) {
    if (declaration.type === 'VariableDeclaration')
      into.hasPatterns ||= declaration.declarations.some(({ id }) => id.type !== 'Identifier');
    for (const name of collectDeclaration(into, declaration, statement.leadingComments ?? []))
      into.exports.set(name, { local: name });
    return;
  }
  if (statement.exportKind === 'type') return;
  for (const specifier of statement.specifiers) {
    if (specifier.type !== 'ExportSpecifier' || specifier.exportKind === 'type') continue;
    const local = specifier.local.name;
    into.exports.set(
      nameOf(specifier.exported),
      source ? { from: source.value, name: local } : { local },
    );
  }
};

const nameOf = (node: { type: string; name?: string; value?: string }): string =>
  node.name ?? node.value ?? '';

const collectDeclaration = (
  into: Collected,
  declaration: Statement,
  comments: Comments,
): string[] => {
  switch (declaration.type) {
    case 'FunctionDeclaration': {
      const name = declaration.id?.name;
      if (name === undefined) return [];
      into.bindings.set(name, { kind: 'function', node: declaration, comments });
      return [name];
    }
    case 'VariableDeclaration':
      return declaration.declarations.flatMap(({ id, init }) => {
        if (id.type !== 'Identifier' || !init) return [];
        const annotation = id.typeAnnotation;
        const type =
          annotation?.type === 'TSTypeAnnotation' ? { type: annotation.typeAnnotation } : {};
        into.bindings.set(id.name, { kind: 'value', node: init, comments, ...type });
        return [id.name];
      });
    case 'TSTypeAliasDeclaration':
      into.types.set(declaration.id.name, { kind: 'alias', node: declaration.typeAnnotation });
      return [];
    case 'TSInterfaceDeclaration': {
      const bases = (declaration.extends ?? []).flatMap(({ expression }) =>
        expression.type === 'Identifier' ? [expression.name] : [],
      );
      const members = declaration.body.body;
      into.types.set(declaration.id.name, { kind: 'interface', members, bases });
      return [];
    }
    default:
      return [];
  }
};

/** `exports.name = …`, `module.exports.name = …` and `module.exports = { name … }`. */
const collectCommonJs = (
  into: Collected,
  statement: Extract<Statement, { type: 'ExpressionStatement' }>,
): void => {
  const { expression } = statement;
  if (expression.type !== 'AssignmentExpression') return;
  const { left, right } = expression;
  const comments = statement.leadingComments ?? [];
  const put = (name: string, binding: Binding): void => {
    into.bindings.set(`exports.${name}`, binding);
    into.exports.set(name, { local: `exports.${name}` });
  };
  if (left.type !== 'MemberExpression' || left.computed) return;
  const target = left.property.type === 'Identifier' ? left.property.name : '';
  if (isExportsObject(left.object)) {
    put(target, { kind: 'value', node: right, comments });
    return;
  }
  if (!isModuleExports(left) || right.type !== 'ObjectExpression') return;
  for (const property of right.properties) {
    const own = property.leadingComments ?? [];
    if (property.type === 'SpreadElement' || property.key.type !== 'Identifier') continue;
    const name = property.key.name;
    if (property.type === 'ObjectMethod')
      put(name, { kind: 'function', node: property, comments: own });
    else put(name, { kind: 'value', node: property.value as ExpressionNode, comments: own });
  }
};

const isModuleExports = (node: { type: string }): boolean => {
  const { object, property } = node as unknown as Record<string, { type: string; name?: string }>;
  return (
    node.type === 'MemberExpression' && object?.name === 'module' && property?.name === 'exports'
  );
};

const isExportsObject = (node: { type: string; name?: string }): boolean =>
  node.name === 'exports' || isModuleExports(node);
