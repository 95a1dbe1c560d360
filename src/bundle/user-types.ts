import { dirname, relative, sep } from 'node:path';
import { parse } from '@babel/parser';
import type { FunctionMeta, ModuleKind } from '../protocol/meta.ts';
import { autoStates } from './auto-state.ts';
import { builtinNames } from './builtin-names.ts';
import {
  type DeclaredFunction,
  declareFunction,
  functionsByExport,
  functionsByName,
  inputType,
  interfaceText,
  memberLine,
  memberLines,
  namesOfModule,
  returnType,
  typesIn,
} from './declared-functions.ts';
import { type Described, describeModule } from './describe.ts';
import { discoverUser, type FoundModule } from './discover.ts';
import type { ExportedFunction } from './exported-functions.ts';
import { createSources, type Sources } from './source.ts';
import { sourceRoot } from './source-root.ts';

/** The folders of the user's modules, and the file for the declarations. */
export type UserTypesRequest = {
  readonly fileRoots: Readonly<Record<string, readonly string[]>>;
  readonly extraDirs?: Readonly<Record<string, readonly string[]>>;
  readonly zips?: boolean;
  /** The absolute path of the declaration file: imports are relative to it. */
  readonly file: string;
};

export type UserTypes = {
  readonly text: string;
  /** How many functions are declared. */
  readonly functions: number;
  readonly modules: number;
  /** Modules whose functions are declared without types, with the reason. */
  readonly untyped: readonly { readonly path: string; readonly reason: string }[];
};

/** The first line of every file that `tsalt-ssh types` writes: it overwrites no other. */
export const userTypesHeader =
  '/* Written by `tsalt-ssh types`: run it again after you change a module. */';

type UserModule = {
  readonly found: FoundModule;
  readonly described: Described;
  readonly exported: ReadonlyMap<string, ExportedFunction>;
};

/**
 * Writes the declarations of the user's `_modules`, `_states`, `_utils` and `_grains`, which
 * type `__salt__`, `__states__`, `__utils__` and `__grains__`.
 */
export const userTypes = (request: UserTypesRequest): UserTypes => {
  const sources = createSources(parse);
  const kinds = new Set<ModuleKind>(['exec', 'state', 'utils', 'grains']);
  const { modules } = discoverUser(request.fileRoots, request.extraDirs, request.zips);
  const all = modules
    .filter(({ kind }) => kinds.has(kind))
    .map((found): UserModule => {
      const described = describeModule(sources, found);
      const broken = described.meta.broken !== undefined || found.zip !== undefined;
      return {
        found,
        described,
        exported: broken ? new Map() : functionsByExport(sources, found),
      };
    });
  const of = (kind: ModuleKind): UserModule[] => all.filter(({ found }) => found.kind === kind);
  const context = { sources, folder: dirname(request.file) };
  const made = madeStates(of('exec'), of('state'));
  const parts = [
    functionsText('SaltFunctions', of('exec'), context),
    replacedText('ReplacedModules', 'exec', of('exec')),
    functionsText('StateFunctions', [...of('state'), ...made], context),
    replacedText('ReplacedStates', 'state', of('state')),
    helpersText(of('utils'), context),
    grainsText(of('grains'), context),
  ].filter(part => part !== '');
  const body = parts.map(part => `  ${part.trimEnd().replaceAll('\n', '\n  ')}\n`).join('\n');
  const names = typesIn(body);
  const imported = names.length > 0 ? `{ ${names.join(', ')} }` : '{}';
  const untyped = all.flatMap(module => {
    const reason = whyUntyped(module);
    return reason === undefined ? [] : [{ path: module.described.meta.path, reason }];
  });
  return {
    text: `${userTypesHeader}\nimport type ${imported} from 'tsalt-ssh/module';\n\ndeclare module 'tsalt-ssh/module' {\n${body}}\n`,
    functions: all.reduce((sum, { described }) => sum + described.meta.functions.length, 0),
    modules: all.length,
    untyped,
  };
};

type Context = { readonly sources: Sources; readonly folder: string };

/** Returns the reason why not all functions of a module are known; undefined if they are. */
const whyUntyped = ({ found, described: { meta } }: UserModule): string | undefined => {
  if (meta.broken !== undefined) return meta.broken;
  if (found.zip !== undefined) return 'it is an archive';
  return meta.dynamic ? 'some of its functions only exist when it runs' : undefined;
};

/** Derives the states of the `auto_state` contract from execution modules. */
const madeStates = (exec: readonly UserModule[], states: readonly UserModule[]): UserModule[] => {
  const entries = [...exec, ...states].map(({ described, found }) => ({
    described,
    files: found.files,
    home: found.home,
  }));
  return autoStates(entries).map(({ described, home, files }) => ({
    found: { kind: 'state', name: described.meta.file, files, builtin: false, home },
    described,
    exported: new Map(),
  }));
};

/** `typeof import('./states/_modules/note.ts').get`; undefined for JavaScript, which has no types. */
const typeOfExport = (
  { found }: UserModule,
  name: string,
  { folder }: Context,
): string | undefined => {
  const file = found.files.find(path => /\.m?ts$/.test(path));
  if (file === undefined) return undefined;
  const path = relative(folder, file).split(sep).join('/');
  return `typeof import(${JSON.stringify(path.startsWith('.') ? path : `./${path}`)}).${name}`;
};

const functionsText = (name: string, modules: readonly UserModule[], context: Context): string => {
  const typeOf = inputType(parse);
  const declared = modules.map(module => {
    const { meta } = module.described;
    const functions = meta.functions.map((fun): [string, DeclaredFunction] => [
      fun.name,
      declareFunction(fun, typeOf, returnOf(module, fun, context), (param, at) => {
        const whole = module.exported.has(fun.exportName)
          ? typeOfExport(module, fun.exportName, context)
          : undefined;
        return whole && at >= 0 && param.type !== undefined
          ? `Parameters<${whole}>[${at}]`
          : 'unknown';
      }),
    ]);
    return [namesOfModule(meta), new Map(functions)] as const;
  });
  const patterns = modules.filter(module => whyUntyped(module) !== undefined).map(patternOf);
  const lines = [...memberLines(functionsByName(declared)), ...patterns];
  return lines.length > 0 ? interfaceText(`interface ${name}`, lines) : '';
};

/** Any function of a module whose functions are not known. */
const patternOf = ({ described: { meta } }: UserModule): string =>
  namesOfModule(meta)
    .map(name => `[name: \`${name}.\${string}\`]: any;`)
    .join('\n');

const returnOf = (module: UserModule, fun: FunctionMeta, context: Context): string => {
  if (module.described.meta.auto) return fun.name === 'describe' ? 'DataDict' : 'StateReturn';
  const exported = module.exported.get(fun.exportName);
  const written = returnType(context.sources, exported);
  if (written !== undefined) return written;
  const whole = exported && typeOfExport(module, fun.exportName, context);
  return whole === undefined ? 'any' : `Awaited<ReturnType<${whole}>>`;
};

const replacedText = (
  name: string,
  kind: 'exec' | 'state',
  modules: readonly UserModule[],
): string => {
  const builtin = builtinNames(sourceRoot(), kind);
  const replaced = modules
    .flatMap(({ described: { meta } }) => namesOfModule(meta))
    .filter(module => builtin.has(module));
  const lines = [...new Set(replaced)].map(module => `${JSON.stringify(module)}: true;`);
  return lines.length > 0 ? interfaceText(`interface ${name}`, lines) : '';
};

/** Declares helpers: they are called directly, without binding arguments and without a promise. */
const helpersText = (modules: readonly UserModule[], context: Context): string => {
  const lines = modules.flatMap(module => {
    const { meta } = module.described;
    const functions = namesOfModule(meta).flatMap(name =>
      meta.functions.map(fun =>
        memberLine(
          `${name}.${fun.name}`,
          typeOfExport(module, fun.exportName, context) ?? 'UntypedHelper',
          (fun.doc ?? '').split('\n')[0]?.replaceAll('*/', '*\\/') ?? '',
        ),
      ),
    );
    return whyUntyped(module) === undefined ? functions : [...functions, patternOf(module)];
  });
  return lines.length > 0 ? interfaceText('interface UtilFunctions', lines) : '';
};

/**
 * Declares grains from explicit return types. An inferred type could depend on `__grains__`, and
 * the compiler refuses such a cycle.
 */
const grainsText = (modules: readonly UserModule[], context: Context): string => {
  const bases = modules.flatMap(module =>
    module.described.meta.functions.flatMap(({ exportName }) => {
      const exported = module.exported.get(exportName);
      const isWritten = exported && 'returnType' in exported.node && exported.node.returnType;
      const whole = isWritten ? typeOfExport(module, exportName, context) : undefined;
      return whole === undefined ? [] : [`GrainsOf<${whole}>`];
    }),
  );
  return bases.length > 0 ? `interface Grains extends ${bases.join(', ')} {}\n` : '';
};
