import type { ModuleSource, Sources } from '../source.ts';

/**
 * Names of `modules/api.ts` that give no access to the host's grains. `__opts__` contains only the
 * grains of roster and configuration, which the control node sends.
 */
const allowed: ReadonlySet<string> = new Set([
  '__context__',
  '__opts__',
  'CommandExecutionError',
  'SaltInvocationError',
  'kwargs',
  'log',
]);

const api = /[/\\]modules[/\\]api\.ts$/;

/** Ways to load code that the import statements of a file do not show. */
const hidden = /\bimport\s*\(|\brequire\b|\bmodule\.|\bglobalThis\b/;

/**
 * Whether nothing in a built-in file, or in what it imports, can read the host's grains: neither
 * itself nor through another module's function.
 */
export const needsNoGrains = (sources: Sources, source: ModuleSource): boolean => {
  const seen = new Set([source.path]);
  const open = [source];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (hidden.test(next.text)) return false;
    for (const { from, names } of importsOf(next)) {
      if (from.startsWith('node:')) continue;
      const path = sources.resolve(next.path, from);
      if (path === undefined) return false;
      if (api.test(path)) {
        if (!names?.every(name => allowed.has(name))) return false;
      } else if (!seen.has(path)) {
        seen.add(path);
        open.push(sources.open(path));
      }
    }
  }
  return true;
};

/** A file that another one evaluates; without `names` all of its exports are imported. */
type Import = { readonly from: string; readonly names?: readonly string[] };

const importsOf = ({ body }: ModuleSource): Import[] =>
  body.flatMap((statement): Import[] => {
    if (statement.type === 'ImportDeclaration') {
      if (statement.importKind === 'type') return [];
      const from = statement.source.value;
      const values = statement.specifiers.filter(
        specifier => specifier.type !== 'ImportSpecifier' || specifier.importKind !== 'type',
      );
      const names = values.map(specifier =>
        specifier.type === 'ImportSpecifier' && specifier.imported.type === 'Identifier'
          ? specifier.imported.name
          : '*',
      );
      return [{ from, names }];
    }
    const isExport =
      statement.type === 'ExportAllDeclaration' || statement.type === 'ExportNamedDeclaration';
    return isExport && statement.source && statement.exportKind !== 'type'
      ? [{ from: statement.source.value }]
      : [];
  });
