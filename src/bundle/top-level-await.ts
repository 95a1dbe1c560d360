import type { parse as Parse } from '@babel/parser';

/**
 * Converts a module with a top-level `await` to CommonJS: `module.exports` is a promise of its
 * exports. esbuild has no CommonJS form of such a module.
 *
 * @param code the module as plain JavaScript (types removed), an ES module
 * @returns the code; imports are loaded before the module's first statement, as usual
 */
export const awaitingModule = (code: string, parse: typeof Parse): string => {
  const { program } = parse(code, { sourceType: 'module', plugins: [] });
  const imports: string[] = [];
  const exported: string[] = [];
  let body = '';
  let at = 0;
  for (const statement of program.body) {
    const { start = 0, end = 0 } = statement as { start: number; end: number };
    body += code.slice(at, start);
    body += moved(statement, code, imports, exported) ?? code.slice(start, end);
    at = end;
  }
  body += code.slice(at);
  return [
    ...imports,
    `module.exports = (async () => {${body}`,
    `return { ${exported.join(', ')} };`,
    '})();',
    '',
  ].join('\n');
};

type Statement = ReturnType<typeof Parse>['program']['body'][number];

/** Returns the replacement of an import or export; undefined for any other statement. */
const moved = (
  statement: Statement,
  code: string,
  imports: string[],
  exported: string[],
): string | undefined => {
  const text = ({ start, end }: { start?: number | null; end?: number | null }): string =>
    code.slice(start ?? 0, end ?? 0);
  switch (statement.type) {
    case 'ImportDeclaration': {
      const from = `require(${JSON.stringify(statement.source.value)})`;
      const names: string[] = [];
      for (const specifier of statement.specifiers) {
        const local = specifier.local.name;
        if (specifier.type === 'ImportNamespaceSpecifier')
          imports.push(`const ${local} = ${from};`);
        else if (specifier.type === 'ImportDefaultSpecifier')
          imports.push(`const ${local} = (m => (m && m.__esModule ? m.default : m))(${from});`);
        else names.push(`${text(specifier.imported)}: ${local}`);
      }
      if (names.length > 0) imports.push(`const { ${names.join(', ')} } = ${from};`);
      if (statement.specifiers.length === 0) imports.push(`${from};`);
      return '';
    }
    case 'ExportNamedDeclaration': {
      const { declaration, source, specifiers } = statement;
      if (declaration) {
        exported.push(...declaredNames(declaration));
        return text(declaration);
      }
      const from = source && `require(${JSON.stringify(source.value)})`;
      for (const specifier of specifiers) {
        if (specifier.type !== 'ExportSpecifier') continue;
        const [local, name] = [text(specifier.local), text(specifier.exported)];
        exported.push(from ? `${name}: ${from}.${local}` : `${name}: ${local}`);
      }
      return '';
    }
    case 'ExportAllDeclaration':
      exported.unshift(`...require(${JSON.stringify(statement.source.value)})`);
      return '';
    case 'ExportDefaultDeclaration':
      exported.push('default: __default');
      return `const __default = ${text(statement.declaration)};`;
    default:
      return undefined;
  }
};

/** Returns the names in a declaration, including patterns. */
const declaredNames = (declaration: Statement): string[] => {
  switch (declaration.type) {
    case 'VariableDeclaration':
      return declaration.declarations.flatMap(({ id }) => patternNames(id));
    case 'FunctionDeclaration':
    case 'ClassDeclaration':
      return declaration.id ? [declaration.id.name] : [];
    default:
      return [];
  }
};

type Pattern = { readonly type: string };

const patternNames = (pattern: Pattern | null): string[] => {
  const node = pattern as {
    type: string;
    name: string;
    properties: { value?: Pattern; argument?: Pattern }[];
    elements: (Pattern | null)[];
    left: Pattern;
    argument: Pattern;
  } | null;
  switch (node?.type) {
    case 'Identifier':
      return [node.name];
    case 'ObjectPattern':
      return node.properties.flatMap(({ value, argument }) =>
        patternNames(value ?? argument ?? null),
      );
    case 'ArrayPattern':
      return node.elements.flatMap(patternNames);
    case 'AssignmentPattern':
      return patternNames(node.left);
    case 'RestElement':
      return patternNames(node.argument);
    default:
      return [];
  }
};
