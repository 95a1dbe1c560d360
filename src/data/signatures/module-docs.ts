import type {
  FunctionMeta,
  FunctionSignature,
  ModuleKind,
  ModuleMeta,
  Param,
} from '../../protocol/meta.ts';
import type { Plain, PlainDict } from '../../protocol/plain.ts';
import { fnmatch } from '../python/glob.ts';

/** The name of a module, as far as its source shows it. */
export const moduleName = (module: ModuleMeta): string => module.virtualname ?? module.file;

/** Functions of a kind by full name, sorted; several modules of one virtual name are one. */
export const functionsOf = (
  modules: readonly ModuleMeta[],
  kind: ModuleKind,
): ReadonlyMap<string, FunctionMeta> => {
  const all = modules
    .filter(module => module.kind === kind && module.broken === undefined)
    .flatMap(module =>
      module.functions.map(fun => [`${moduleName(module)}.${fun.name}`, fun] as const),
    );
  const functions = new Map<string, FunctionMeta>();
  for (const [name, fun] of all.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
    if (!functions.has(name)) functions.set(name, fun);
  return functions;
};

/**
 * `sys.doc` and `sys.state_doc`: documentation by function name, for everything or for the
 * modules, functions and globs given. A state module's own text stands under its name.
 */
export const docs = (
  modules: readonly ModuleMeta[],
  kind: 'exec' | 'state',
  wanted: readonly string[] = [],
): Record<string, string> => {
  const found: Record<string, string> = {};
  if (kind === 'state')
    for (const module of modules) {
      const name = moduleName(module);
      if (module.kind === 'state' && module.doc && isWantedModule(wanted, name))
        found[name] = moduleText(module);
    }
  for (const [name, fun] of functionsOf(modules, kind))
    if (isFunctionSelected(wanted, name)) found[name] = functionText(fun);
  return found;
};

/** `sys.argspec` and `sys.state_argspec`, in Salt's form. */
export const argspecs = (
  modules: readonly ModuleMeta[],
  kind: 'exec' | 'state',
  wanted: string,
): PlainDict => {
  const found: PlainDict = {};
  for (const [name, { signature }] of functionsOf(modules, kind))
    if (isFunctionSelected(wanted === '' ? [] : [wanted], name)) found[name] = argspec(signature);
  return found;
};

/** `args`, `defaults` (of the last ones), `varargs` and `kwargs`, as Python's inspect has them. */
const argspec = ({ positional, keywords = [], rest, anyKeyword }: FunctionSignature): PlainDict => {
  const params = [...positional, ...keywords];
  const ordered = [
    ...params.filter(({ optional }) => !optional),
    ...params.filter(({ optional }) => optional),
  ];
  const defaults = ordered.filter(({ optional }) => optional).map(defaultOf);
  return {
    args: ordered.length > 0 ? ordered.map(({ name }) => name) : null,
    defaults: defaults.length > 0 ? defaults : null,
    varargs: rest ? true : null,
    kwargs: anyKeyword ? true : null,
  };
};

const defaultOf = ({ default: value }: Param): Plain => value ?? null;

/** `sys.list_modules`, `sys.list_state_modules`: names, of those only that match a glob given. */
export const moduleNames = (
  modules: readonly ModuleMeta[],
  kind: ModuleKind,
  wanted: readonly string[] = [],
): string[] => {
  const names = modules
    .filter(module => module.kind === kind && module.broken === undefined)
    .filter(module => wanted.length === 0 || wanted.some(pattern => fitsModule(pattern, module)))
    .map(moduleName);
  return [...new Set(names)].sort();
};

/** A glob may fit a function of the module, too: `file.mana*`. */
const fitsModule = (pattern: string, module: ModuleMeta): boolean =>
  fnmatch(moduleName(module), pattern) ||
  (pattern.includes('*') &&
    module.functions.some(({ name }) => fnmatch(`${moduleName(module)}.${name}`, pattern)));

/** `sys.list_functions`, `sys.list_state_functions`: of everything, of modules, or by glob. */
export const functionNames = (
  modules: readonly ModuleMeta[],
  kind: 'exec' | 'state',
  wanted: readonly string[] = [],
): string[] =>
  [...functionsOf(modules, kind).keys()].filter(name => isFunctionSelected(wanted, name));

const folders: Partial<Record<ModuleKind, string>> = {
  exec: 'modules',
  state: 'states',
  grains: 'grains',
  renderers: 'renderers',
  utils: 'utils',
  pillar: 'pillar',
  outputters: 'outputters',
  matchers: 'matchers',
  returners: 'returners',
};

/** `saltutil.sync_*`: no sync is needed here; returns the user's modules in the artifact. */
export const synced = (modules: readonly ModuleMeta[], what: string): string[] =>
  modules
    .filter(module => !module.builtin && !module.auto && folders[module.kind] === what)
    .filter(module => module.broken === undefined)
    .map(module => `${what}.${module.file}`)
    .sort();

/** `saltutil.sync_all`. */
export const syncedAll = (modules: readonly ModuleMeta[]): Record<string, string[]> =>
  Object.fromEntries(Object.values(folders).map(what => [what, synced(modules, what)]));

/** One line per user module that was left out, for the run's warnings. */
export const brokenModules = (modules: readonly ModuleMeta[]): string[] =>
  modules
    .filter(({ broken }) => broken !== undefined)
    .map(({ kind, file, broken }) => `The ${kind} module '${file}' was left out: ${broken}`);

/** A function's documentation as a terminal shows it: text, parameters, return, examples. */
export const functionText = (fun: FunctionMeta): string => {
  const { doc, signature, returns, examples } = fun;
  const params = [
    ...signature.positional,
    ...(signature.rest ? [signature.rest] : []),
    ...(signature.keywords ?? []),
  ].filter(({ doc: text }) => text !== undefined);
  const parts = [
    doc,
    ...params.map(param => `${paramHead(param)}\n    ${param.doc?.replace(/\n/g, '\n    ')}`),
    unknownText(fun),
    returns === undefined ? undefined : `Returns: ${returns}`,
    examples?.length
      ? `CLI Example:\n\n${examples.map(text => text.replace(/^/gm, '    ')).join('\n')}`
      : undefined,
  ];
  return parts.filter(part => part !== undefined && part !== '').join('\n\n');
};

/** Describes how a state treats unknown arguments; undefined if it refuses them. */
export const unknownText = ({ unknown }: FunctionMeta): string | undefined =>
  unknown &&
  {
    ignored: 'Other arguments are ignored, with a warning.',
    variables: 'Other arguments become variables of the template; without one, they are ignored.',
  }[unknown];

const paramHead = ({ name, optional, default: value }: Param): string =>
  optional && value !== undefined && value !== null ? `${name} : ${showDefault(value)}` : name;

/** A default as text; code stays as written. */
export const showDefault = (value: NonNullable<Param['default']>): string =>
  typeof value === 'object' && !Array.isArray(value) && typeof value.code === 'string'
    ? value.code
    : typeof value === 'boolean'
      ? value
        ? 'True'
        : 'False'
      : typeof value === 'string'
        ? value
        : JSON.stringify(value);

/** A module's documentation with its metadata, as Salt's field lists have it. */
export const moduleText = ({ doc = '', tags = {} }: ModuleMeta): string => {
  const fields = Object.entries(tags).map(([name, text]) => `:${name}: ${text}`);
  return [doc, fields.join('\n')].filter(Boolean).join('\n\n');
};

const isWantedModule = (wanted: readonly string[], name: string): boolean =>
  wanted.length === 0 || wanted.some(pattern => fnmatch(name, pattern));

/** A pattern is a module (`cmd`, `cmd.`), a function (`cmd.run`) or a glob of either. */
export const isFunctionSelected = (wanted: readonly string[], name: string): boolean => {
  const module = name.slice(0, name.lastIndexOf('.'));
  return (
    wanted.length === 0 ||
    wanted.some(
      pattern =>
        fnmatch(name, pattern) ||
        fnmatch(module, pattern.replace(/\.$/, '')) ||
        (!pattern.includes('*') && name.startsWith(`${pattern.replace(/\.$/, '')}.`)),
    )
  );
};
