import { dirname, join, relative } from 'node:path';
import { moduleIndexText } from '../protocol/manifest/module-index.ts';
import { namedLines } from '../protocol/manifest/named-lines.ts';
import type { ControlFunction, ManifestModule } from '../protocol/manifest.ts';
import type {
  FunctionMeta,
  FunctionSignature,
  ModuleKind,
  ModuleMeta,
  Param,
} from '../protocol/meta.ts';
import type { Described } from './describe.ts';
import { type ModuleFolder, portablePath, reasonIn } from './portable-path.ts';

/**
 * The target of a bundle: `host`, the artifact; `grains`, the program for hosts that may not be
 * targets; `control`, the control node itself.
 */
export type Goal = 'host' | 'grains' | 'control';

/** Kinds of modules by where they run. */
export const kindsOf: Readonly<Record<Goal, ReadonlySet<ModuleKind>>> = {
  host: new Set(['exec', 'state', 'grains', 'utils', 'contracts']),
  grains: new Set(['grains', 'utils']),
  control: new Set(['renderers', 'pillar', 'outputters', 'matchers', 'returners']),
};

export type EntryModule = {
  readonly described: Described;
  /** Files to evaluate: several form one module. Empty for a broken one. */
  readonly files: readonly string[];
  readonly home: ModuleFolder;
  /** Signatures the runtime needs besides those of its public functions. */
  readonly inner?: readonly FunctionMeta[];
};

/**
 * Returns the artifact's own code: a thunk for every module, its signatures as strings, and the
 * start.
 */
export const entryText = (
  modules: readonly EntryModule[],
  control: readonly ControlFunction[],
  runtime: string,
): string => {
  const items = modules.map(moduleText);
  return `${lazily}require(${JSON.stringify(runtime)}).start(${manifestText(items, control)});\n`;
};

/** In front of the name of a text of a base: a folder of built-in modules, and a number. */
export const entryPrefix = 'entry:';

/** The code of a base, with texts that it requires by name. */
type BaseText = { readonly entry: string; readonly texts: ReadonlyMap<string, string> };

/**
 * Returns the code of the base of a linked artifact. It calls a function that is defined behind it,
 * with the runtime, the built-in modules and the exports of `tsalt-ssh/module`. What a module loads
 * is in a text of its own, beside the module's files, so that it can be in the same block.
 */
export const baseText = (
  modules: readonly EntryModule[],
  runtime: string,
  api: string,
): BaseText => {
  const texts = new Map<string, string>();
  const cases = modules.map((module, at) => {
    const folder = relative(dirname(api), dirname(module.files[0] ?? api));
    const name = `${entryPrefix}${folder}/${at}`;
    const { signatures, load } = loadingText(module);
    texts.set(
      name,
      `exports.signatures = () => ${signatures};\nexports.load = lazily => ${load};\n`,
    );
    return `case ${at}: return require(${JSON.stringify(name)});`;
  });
  const known = modules.map(factsOf);
  const facts = JSON.stringify(known.map(fact => JSON.stringify(fact)).join('\n'));
  const index = JSON.stringify(moduleIndexText(known));
  const runtimeFile = (name: string): string => JSON.stringify(join(dirname(runtime), name));
  const entry = `${lazily}const { openBuiltins } = require(${runtimeFile('builtin-modules.ts')});
TS.block = require(${runtimeFile('load-block.ts')}).loadBlock;
${link}(require(${JSON.stringify(runtime)}).start, openBuiltins(${facts}, ${index}, { lazily, codeOf: at => { switch (at) {
${cases.join('\n')}
} } }), () => require(${JSON.stringify(api)}));
`;
  return { entry, texts };
};

/** The name of the base's function that returns the exports of `tsalt-ssh/module`. */
export const apiFunction = 'tsaltApi';
const link = 'tsaltLink';
const start = 'tsaltStart';
const builtins = 'tsaltBuiltins';

/** The texts around the code of `linkedText`, which make it the function that the base calls. */
export const linkHead = `function ${link}(${start},${builtins},${apiFunction}){\n`;
export const linkEnd = '}\n';

/** Names a module in a base. */
export const baseKey = ({ kind, file }: ModuleMeta): string => `${kind} ${file}`;

/**
 * Returns the code that is linked to a base: the user's modules, and which of the base's modules are
 * there, in the order of `modules`.
 *
 * @param base - the names of the base's modules, in their order
 */
export const linkedText = (
  modules: readonly EntryModule[],
  base: readonly string[],
  control: readonly ControlFunction[],
): string => {
  const places = new Map(base.map((key, at) => [key, at]));
  const placeOf = ({ described: { meta } }: EntryModule): number | undefined =>
    meta.builtin ? places.get(baseKey(meta)) : undefined;
  const items = modules.filter(module => placeOf(module) === undefined).map(moduleText);
  const taken = modules.map(placeOf).filter(place => place !== undefined);
  const found = taken.length < base.length ? `${builtins}.only([${taken}])` : builtins;
  return `${start}(${manifestText(items, control, found)});\n`;
};

/** @param found - code that returns the built-in modules of a base */
const manifestText = (
  items: readonly string[],
  control: readonly ControlFunction[],
  found?: string,
): string => {
  const signed = control.filter(({ signature }) => signature !== undefined);
  const manifest = [
    `modules: [\n${items.join(',\n')}\n]`,
    ...(found === undefined ? [] : [`builtins: ${found}`]),
    `control: ${JSON.stringify(control.map(({ name }) => name).join(' '))}`,
    ...(signed.length > 0
      ? [`controlSignatures: ${text(signed.map(({ name, signature }) => [name, signature]))}`]
      : []),
  ];
  return `{ manifest: { ${manifest.join(', ')} } }`;
};

/** Returns the code of the bundle for the control node: thunks by kind and name. */
export const controlEntryText = (modules: readonly EntryModule[]): string => {
  const thunks = modules
    .filter(({ described }) => described.meta.broken === undefined)
    .map(({ described: { meta }, files }) => {
      const key = JSON.stringify(`${meta.kind} ${meta.file}`);
      return `${key}: () => ${loadText(files)}`;
    });
  return `module.exports = {\n${thunks.join(',\n')}\n};\n`;
};

const text = (entries: readonly (readonly [string, FunctionSignature | undefined])[]): string =>
  JSON.stringify(
    JSON.stringify(
      Object.fromEntries(entries.map(([name, signature]) => [name, signature && bare(signature)])),
    ),
  );

/** Code that returns the signatures of a module, and that evaluates it. */
type Loading = { readonly signatures: string; readonly load: string };

const loadingText = ({ described, files, inner = [] }: EntryModule): Loading => {
  const { functions, hooks = [] } = described.meta;
  return {
    signatures: signaturesText([...inner, ...functions, ...hooks]),
    load: described.parts ? partsText(files, described.parts) : loadText(files),
  };
};

const moduleText = (module: EntryModule): string => {
  const { signatures, load } = loadingText(module);
  const facts = Object.entries(factsOf(module)).map(
    ([name, value]) => `${name}: ${JSON.stringify(value)}`,
  );
  const { functions, broken } = module.described.meta;
  const code = [
    ...(functions.length > 0 ? [`signatures: () => ${signatures}`] : []),
    ...(broken === undefined ? [`load: () => ${load}`] : []),
  ];
  return `{ ${[...facts, ...code].join(', ')} }`;
};

/** Returns the entry of a manifest for a module, apart from its code. */
const factsOf = ({ described, home }: EntryModule): Omit<ManifestModule, 'signatures' | 'load'> => {
  const { meta } = described;
  const virtual = [...new Set([meta.virtualname, ...described.virtual])].filter(
    name => name !== undefined,
  );
  return {
    kind: meta.kind,
    name: meta.file,
    ...(virtual.length > 0 ? { virtual } : {}),
    ...(described.anyName ? { anyName: true } : {}),
    ...(meta.builtin ? { builtin: true } : {}),
    path: portablePath(home, meta.path),
    functions: meta.functions.map(({ name }) => name).join(' '),
    ...(meta.contracts ? { contracts: meta.contracts } : {}),
    ...(meta.auto ? { auto: true } : {}),
    ...(meta.broken === undefined ? {} : { broken: reasonIn(home, meta.broken) }),
  };
};

const signaturesText = (functions: readonly FunctionMeta[]): string => {
  const lines = functions.flatMap(({ exportName, signature }) =>
    signature ? [[exportName, JSON.stringify(bare(signature))] as const] : [],
  );
  return JSON.stringify(namedLines(lines));
};

const loadText = (files: readonly string[]): string => {
  const calls = files.map(file => `require(${JSON.stringify(file)})`);
  return calls.length === 1 ? `${calls[0]}` : `({ ${calls.map(call => `...${call}`).join(', ')} })`;
};

/** Makes the exports of several files, each of which is evaluated when one of its names is read. */
const lazily = `const lazily = files => {
  const all = {};
  for (const [names, load] of files)
    for (const name of names.split(' ')) {
      const define = what => Object.defineProperty(all, name, { enumerable: true, configurable: true, ...what });
      define({
        get: () => {
          const value = load()[name];
          define({ value });
          return value;
        },
      });
    }
  return all;
};
`;

const partsText = (files: readonly string[], parts: readonly (readonly string[])[]): string => {
  const items = files.map(
    (file, at) =>
      `[${JSON.stringify(parts[at]?.join(' '))}, () => require(${JSON.stringify(file)})]`,
  );
  return `lazily([${items.join(', ')}])`;
};

/** Returns a signature without its documentation, which stays on the control node. */
const bare = (signature: FunctionSignature): FunctionSignature => ({
  positional: signature.positional.map(bareParam),
  ...(signature.rest ? { rest: bareParam(signature.rest) } : {}),
  ...(signature.keywords ? { keywords: signature.keywords.map(bareParam) } : {}),
  ...(signature.anyKeyword ? { anyKeyword: true } : {}),
});

const bareParam = ({ doc: _, ...param }: Param): Param => param;
