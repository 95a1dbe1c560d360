import type {
  FunctionMeta,
  FunctionSignature,
  ModuleMeta,
  UnknownArguments,
} from '../protocol/meta.ts';
import { needsNoGrains, readsGrainsByCalls } from './describe/needs-no-grains.ts';
import { virtualNames } from './describe/virtual-names.ts';
import type { FoundModule } from './discover.ts';
import {
  type ExportedFunction,
  exportedFunction,
  exportedFunctions,
} from './exported-functions.ts';
import { literal, readSignature } from './signature.ts';
import type { Binding, ModuleSource, Sources } from './source.ts';
import { type DocComment, docOf, parseDocComment } from './tsdoc.ts';

/** The description of a module from its source, with further data for the loader. */
export type Described = {
  readonly meta: ModuleMeta;
  /** Names that `__virtual__` may return. */
  readonly virtual: readonly string[];
  /** `__virtual__` computes its name. */
  readonly anyName: boolean;
  /** The names that each file of a built-in folder exports, if its source shows all of them. */
  readonly parts?: readonly (readonly string[])[];
};

/** Exports of a state module that the engine calls, not the user. */
const hookNames = new Set([
  'mod_init',
  'mod_watch',
  'mod_aggregate',
  'mod_run_check',
  'mod_run_check_cmd',
]);

/**
 * Reads signatures and documentation of a module. A module with a syntax error is returned as
 * `broken`.
 */
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
  let parsed: readonly ModuleSource[];
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
  parsed: readonly ModuleSource[],
  base: Pick<ModuleMeta, 'kind' | 'file' | 'path' | 'builtin' | 'saltenv'>,
): Described => {
  const constant = (name: string): unknown =>
    parsed.map(source => constantOf(sources, source, name)).find(value => value !== undefined);
  const aliases = Object.assign(
    {},
    ...parsed.map(source => constantOf(sources, source, '__func_alias__')),
  ) as Record<string, string>;
  const isPlain = grainless(sources, parsed, base);
  const all = parsed.flatMap(source => {
    const needs = isPlain(source) ? ({ needsNoGrains: true } as const) : {};
    return exportedFunctions(sources, source)
      .filter(([exportName]) => !exportName.startsWith('_'))
      .map(([exportName, fun]) => ({
        ...describeFunction(sources, exportName, aliasOf(aliases, exportName), fun),
        ...needs,
      }));
  });
  const isHook = ({ exportName }: FunctionMeta): boolean =>
    base.kind === 'state' && hookNames.has(exportName);
  const functions = all.filter(fun => !isHook(fun));
  const hooks = all.filter(isHook);
  const doc = parsed.map(moduleDoc).find(found => found !== undefined);
  const virtualname = constant('__virtualname__');
  const contracts = constant('__contracts__');
  const outputters = constant('__outputter__');
  const virtual = parsed.map(source => virtualNames(sources, source)).find(Boolean);
  const isDynamic = parsed.some(
    source =>
      source.hasComputedExports ||
      hasUnreadFunctions(sources, source) ||
      (source.exports.has('__func_alias__') &&
        constantOf(sources, source, '__func_alias__') === undefined),
  );
  const fetched = base.builtin ? [] : parsed.flatMap(source => sourcesIn(source.text));
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
      ...(fetched.length > 0 ? { sources: [...new Set(fetched)].sort() } : {}),
      ...(isDynamic ? { dynamic: true as const } : {}),
    },
    virtual: virtual?.names ?? [],
    anyName: virtual?.computed ?? false,
    ...(base.builtin && parsed.length > 1 && !parsed.some(isOpen)
      ? { parts: parsed.map(source => [...source.exports.keys()]) }
      : {}),
  };
};

/**
 * Returns which files of a module need no grains. A module that decides on the host whether it is
 * loaded, or prepares itself there, has none.
 */
const grainless = (
  sources: Sources,
  parsed: readonly ModuleSource[],
  { kind, builtin }: Pick<ModuleMeta, 'kind' | 'builtin'>,
): ((source: ModuleSource) => boolean) => {
  const isEligible =
    builtin &&
    (kind === 'exec' || kind === 'state') &&
    !parsed.some(
      source =>
        isOpen(source) || ['__virtual__', '__init__'].some(name => source.exports.has(name)),
    );
  /** The loader evaluates these files whatever the function. */
  const isAlways = ({ exports }: ModuleSource): boolean =>
    ['__func_alias__', '__virtualname__'].some(name => exports.has(name));
  const isPlain = kind === 'state' ? readsGrainsByCalls : needsNoGrains;
  if (!isEligible || parsed.some(source => isAlways(source) && !isPlain(sources, source)))
    return () => false;
  return source => isPlain(sources, source);
};

/** Whether a file may export names that it does not list. */
const isOpen = ({ exportAll, hasComputedExports }: ModuleSource): boolean =>
  exportAll.length > 0 || hasComputedExports;

/**
 * Returns strings in the source that are a complete path of the file roots, without interpolation.
 */
const sourcesIn = (text: string): string[] =>
  [...text.matchAll(/(['"`])(salt:\/\/[^'"`\s\\${}]+)\1/g)].map(([, , path = '']) => path);

const aliasOf = (aliases: Record<string, string>, name: string): string =>
  (Object.hasOwn(aliases, name) ? aliases[name] : undefined) ?? name;

const describeFunction = (
  sources: Sources,
  exportName: string,
  name: string,
  fun: ExportedFunction,
): FunctionMeta => {
  const doc = docOf(fun.comments);
  const params = [...(fun.beneath ?? [])].reverse().map(comments => docOf(comments)?.params);
  const signature: FunctionSignature = readSignature(
    sources,
    fun.source,
    fun.node,
    Object.assign({}, ...params, doc?.params),
  );
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

/** Returns the first comment of the file, unless it belongs to the first function. */
const moduleDoc = (source: ModuleSource): DocComment | undefined => {
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

/** Whether an export may be a function that the source does not show: `fns.up`, `f.bind(null)`. */
const hasUnreadFunctions = (sources: Sources, source: ModuleSource): boolean =>
  [...source.exports].some(([name, exported]) => {
    if (name.startsWith('_') || !('local' in exported)) return false;
    const binding = source.bindings.get(exported.local);
    return (
      binding?.kind === 'value' &&
      mayBeFunction.has(binding.node.type) &&
      exportedFunction(sources, source, name) === undefined
    );
  });

const mayBeFunction = new Set([
  'AwaitExpression',
  'CallExpression',
  'ConditionalExpression',
  'LogicalExpression',
  'MemberExpression',
  'NewExpression',
  'OptionalCallExpression',
  'OptionalMemberExpression',
]);

const constantOf = (sources: Sources, source: ModuleSource, name: string): unknown => {
  const exported = source.exports.get(name);
  if (!exported) return undefined;
  if (!('local' in exported)) {
    const file = sources.resolve(source.path, exported.from);
    return file && constantOf(sources, sources.open(file), exported.name);
  }
  const binding: Binding | undefined = source.bindings.get(exported.local);
  return binding?.kind === 'value' ? literal(binding.node) : undefined;
};
