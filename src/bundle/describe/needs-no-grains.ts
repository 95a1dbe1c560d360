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

/** Ways to load code that neither import statements nor `import()` of a fixed path show. */
const hidden = /\bimport\s*\((?!\s*'[^'\n]+'\s*\))|\brequire\s*\(|\bmodule\.|\bglobalThis\b/;

/** Imports of a built-in file that give no access to grains. */
type Allowed = {
  /** Names of `modules/api.ts`. */
  readonly names: ReadonlySet<string>;
  /** Text that forbids an import of the name: another use than the allowed one. */
  readonly unless: Readonly<Record<string, RegExp>>;
};

const forCalls: Allowed = { names: allowed, unless: {} };

/** Functions of other modules wait for grains, if they are called by their names. */
const otherThanCalls = (table: string): RegExp =>
  new RegExp(`\\b${table}\\b(?!\\[|(?:,[^;]*|\\s*)\\}\\s*from\\b)`);

const forStates: Allowed = {
  names: new Set([
    ...allowed,
    '__env__',
    '__low__',
    '__lowstate__',
    '__running__',
    '__salt__',
    '__states__',
    'currentLow',
    'getContext',
    'getLogger',
    'withContext',
  ]),
  unless: {
    __salt__: otherThanCalls('__salt__'),
    __states__: otherThanCalls('__states__'),
    getContext: /\b(?:grains|provider|utils)\b|\.(?:salt|states)\b/,
  },
};

/**
 * Whether nothing in a built-in file, or in what it imports, can read the host's grains: neither
 * itself nor through another module's function.
 */
export const needsNoGrains = (sources: Sources, source: ModuleSource): boolean =>
  isWithout(sources, source, forCalls);

/**
 * Whether nothing in the file of a built-in state, or in what it imports, can read the host's
 * grains, except through functions of other modules that it calls by name: these can wait until
 * grains are collected.
 */
export const readsGrainsByCalls = (sources: Sources, source: ModuleSource): boolean =>
  isWithout(sources, source, forStates);

const isWithout = (sources: Sources, source: ModuleSource, { names, unless }: Allowed): boolean => {
  const seen = new Set([source.path]);
  const open = [source];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { path: file, text } = next;
    if (hidden.test(text)) return false;
    for (const { from, names: imported } of importsOf(next)) {
      if (from.startsWith('node:')) continue;
      const path = sources.resolve(file, from);
      if (path === undefined) return false;
      if (api.test(path)) {
        if (!imported?.every(name => names.has(name) && !unless[name]?.test(text))) return false;
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

const importsOf = ({ body, text }: ModuleSource): Import[] => [
  ...[...text.matchAll(/\bimport\s*\(\s*'([^'\n]+)'/g)].map(([, from = '']): Import => ({ from })),
  ...body.flatMap((statement): Import[] => {
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
  }),
];
