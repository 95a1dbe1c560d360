import { existsSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import * as esbuild from 'esbuild';
import { TsaltError } from '../protocol/error.ts';
import type { ModuleMeta } from '../protocol/meta.ts';
import type { ArtifactOptions } from './artifact.ts';
import { autoStates } from './auto-state.ts';
import { pathsOf } from './cache-paths.ts';
import { describeAll } from './describe-all.ts';
import type { FoundModule } from './discover.ts';
import { controlEntryText, type EntryModule, entryText, type Goal, kindsOf } from './entry.ts';
import { inputMetadata, sha256 } from './inputs.ts';
import { lazyBuiltins } from './lazy-builtins.ts';
import { packMeta } from './meta-file.ts';
import { define, ownScopes } from './own-scopes.ts';
import { withoutFolders } from './portable-path.ts';
import { type PrebuiltArtifact, prebuiltDescriptions } from './prebuilt.ts';
import { writePrivate } from './private-dir.ts';
import { packTrace } from './trace.ts';
import { archiveImports, inArchives, openZip } from './zip.ts';

/** The input and the output of a build. */
export type BuildRequest = {
  readonly root: string;
  readonly dir: string;
  /** Identifies the project: its roots and the goal. */
  readonly key: string;
  readonly found: readonly FoundModule[];
  readonly options: ArtifactOptions;
  readonly goal: Goal;
};

/** Describes and bundles all modules: the slow way, taken if something changed. */
export const build = async ({
  root,
  dir,
  key,
  found,
  options,
  goal,
}: BuildRequest): Promise<PrebuiltArtifact> => {
  const opened = found.map(module => openZip(module, join(dir, 'zip')));
  const { described, files: read } = await describeAll(
    opened,
    join(dir, `describe-${goal}.json`),
    () => prebuiltDescriptions(root),
  );
  const all = [...described, ...autoStates(described)];
  const wanted = all.filter(({ described: { meta } }) => kindsOf[goal].has(meta.kind));
  const main = goal === 'grains' ? 'grains-main.ts' : 'main.ts';
  const runtime = options.runtime ?? join(root, 'src', 'runtime', main);
  const bundled = await bundleAll(root, wanted, modules =>
    goal === 'control'
      ? controlEntryText(modules)
      : entryText(modules, options.controlFunctions ?? [], runtime),
  );
  const { text, cuts } = withoutFolders(bundled.text);
  const sha = sha256(text);
  const named = inArchives(opened);
  const broken = new Map(
    bundled.modules.flatMap(({ files: [file], described: { meta } }) =>
      file === undefined || meta.broken === undefined ? [] : [[file, named(meta.broken)]],
    ),
  );
  const metas = all.map(({ files: [file = ''], described: { meta } }): ModuleMeta => {
    const after = broken.get(file);
    return after === undefined ? meta : { ...meta, functions: [], broken: after };
  });
  const { js, meta, map } = pathsOf(dir, key, { sha256: sha });
  await writePrivate(meta, packMeta(metas));
  await writePrivate(
    map,
    packTrace({ ...bundled, map: withSources(root, bundled.map, named) }, cuts),
  );
  await writePrivate(js, text);
  const files = new Set([
    ...bundled.inputs,
    ...read,
    ...found.flatMap(({ zip, files: own }) => (zip === undefined ? own : [zip])),
  ]);
  return {
    sha256: sha,
    size: Buffer.byteLength(text),
    inputs: [...files].filter(existsSync).sort().map(inputMetadata),
    absent: bundled.absent,
  };
};

/** Returns a source map with other names of its sources. */
const withSources = (root: string, map: string, named: (path: string) => string): string => {
  const parsed = JSON.parse(map) as { sources: string[] };
  const sources = parsed.sources.map(source => {
    const path = resolve(root, decodeURIComponent(source));
    const name = named(path);
    return name === path ? source : encodeURI(name);
  });
  return JSON.stringify({ ...parsed, sources });
};

type Bundle = {
  readonly text: string;
  /** The source map of the text, as JSON. */
  readonly map: string;
  readonly inputs: readonly string[];
  readonly absent: readonly string[];
  readonly modules: readonly EntryModule[];
};

/**
 * Bundles everything at once. If that fails, finds the broken modules one by one and leaves them
 * out.
 */
const bundleAll = async (
  root: string,
  modules: readonly EntryModule[],
  entry: (modules: readonly EntryModule[]) => string,
): Promise<Bundle> => {
  const absent: string[] = [];
  const own = new Set(modules.flatMap(({ files }) => files));
  const user = modules.filter(({ described }) => !described.meta.builtin);
  // Users' code, or a package of theirs, may show the names of its classes.
  const bundling = { own, shortNames: user.length === 0 };
  const first = await runEsbuild(root, entry(modules), bundling);
  if (first.ok && (await importsWhatExists(root, user)))
    return { ...first, absent: first.absent, modules };
  const reasons = new Map<string, string>();
  const probe = async (group: readonly EntryModule[]): Promise<void> => {
    for (const module of group) {
      const file = module.files[0];
      if (file === undefined || module.described.meta.broken !== undefined) continue;
      const alone = await runEsbuild(root, importsOf(module.files));
      if (alone.ok) continue;
      reasons.set(file, alone.reason);
      absent.push(...alone.absent);
    }
  };
  await probe(user);
  if (reasons.size === 0) await probe(modules.filter(({ described }) => described.meta.builtin));
  const rest = modules.map(module => leaveOut(module, reasons.get(module.files[0] ?? '')));
  const second = await runEsbuild(root, entry(rest), bundling);
  if (second.ok) return { ...second, absent: [...absent, ...second.absent], modules: rest };
  throw new TsaltError('bundle', `The runtime cannot be bundled: ${second.reason}`, {
    kind: 'internal',
  });
};

/**
 * Whether all imported names are exported by the other file: CommonJS does not report a missing
 * one.
 */
const importsWhatExists = async (
  root: string,
  modules: readonly EntryModule[],
): Promise<boolean> => {
  const files = modules
    .filter(({ described }) => described.meta.broken === undefined)
    .flatMap(module => module.files);
  if (files.length === 0) return true;
  return (await runEsbuild(root, importsOf(files))).ok;
};

/** Returns source text that imports these files, so that esbuild reports their errors. */
const importsOf = (files: readonly string[]): string =>
  files.map(path => `import ${JSON.stringify(path)};`).join('\n');

const leaveOut = (module: EntryModule, reason: string | undefined): EntryModule => {
  if (reason === undefined) return module;
  const { described } = module;
  const meta = { ...described.meta, functions: [], broken: reason };
  return { ...module, described: { ...described, meta } };
};

type Output =
  | ({ readonly ok: true } & Pick<Bundle, 'text' | 'map' | 'inputs' | 'absent'>)
  | { readonly ok: false; readonly reason: string; readonly absent: readonly string[] };

type Bundling = {
  /** Files to be bundled in scopes of their own. */
  readonly own?: ReadonlySet<string>;
  /** Whether functions and classes may lose their names: V8 then reads a quarter less. */
  readonly shortNames?: boolean;
};

const runEsbuild = async (
  root: string,
  text: string,
  { own = new Set(), shortNames = false }: Bundling = {},
): Promise<Output> => {
  const missing: string[] = [];
  try {
    const { outputFiles, metafile } = await esbuild.build({
      stdin: { contents: text, resolveDir: root, sourcefile: 'tsalt-ssh-artifact.js' },
      absWorkingDir: root,
      bundle: true,
      write: false,
      metafile: true,
      outfile: join(root, 'artifact.js'),
      sourcemap: 'external',
      sourcesContent: false,
      // Without own scopes, modules are only checked; a top-level await is not an error then.
      format: own.size > 0 ? 'cjs' : 'esm',
      platform: 'node',
      target: 'node18',
      charset: 'ascii',
      minifyWhitespace: true,
      minifySyntax: true,
      minifyIdentifiers: shortNames,
      legalComments: 'none',
      logLevel: 'silent',
      tsconfigRaw: {},
      supported,
      plugins: [
        lazyBuiltins(root),
        archiveImports,
        missingPackages(missing),
        ...(own.size > 0 ? [ownScopes(root, own)] : []),
      ],
      alias: { 'tsalt-ssh/module': join(root, 'src', 'modules', 'api.ts') },
      define,
    });
    const inputs = Object.keys(metafile.inputs)
      .map(path => resolve(root, path.replace(/^module:(.*)\.cjs$/, '$1')))
      .filter(existsSync);
    const [map, code] = outputFiles.map(({ text: content }) => content);
    return {
      ok: true,
      text: code ?? '',
      map: map ?? '',
      inputs: withPackages(inputs),
      absent: missing,
    };
  } catch (error) {
    const failure = error as Partial<esbuild.BuildFailure>;
    if (!failure.errors) throw error;
    return { ok: false, ...explain(root, failure.errors) };
  }
};

/** The artifact is a script, which cannot import: `await import('node:os')` becomes a require. */
const supported = { 'dynamic-import': false };

/** Records where optional packages would be found, as in `try { require('x') } catch {}`. */
const missingPackages = (places: string[]): esbuild.Plugin => ({
  name: 'missing-packages',
  setup: build => {
    build.onResolve({ filter: /^[^./]/ }, async ({ path, pluginData, importer, ...at }) => {
      if (pluginData === asking || isBuiltin(path) || /[\\/]node_modules[\\/]/.test(importer))
        return undefined;
      const { resolveDir, kind, namespace } = at;
      const asked = { resolveDir, kind, importer, namespace, pluginData: asking };
      const { errors } = await build.resolve(path, asked);
      if (errors.length > 0) places.push(...wouldResolve(resolveDir, path));
      return undefined;
    });
  },
});

const asking = Symbol('asking');

/** Adds the package.json files that led esbuild to files of node_modules. */
const withPackages = (inputs: readonly string[]): string[] => {
  const packages = inputs.flatMap(path => {
    const folder = /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(path)?.[0];
    return folder === undefined ? [] : [join(folder, 'package.json')];
  });
  return [...new Set([...inputs, ...packages.filter(existsSync)])];
};

const explain = (
  root: string,
  errors: readonly esbuild.Message[],
): { reason: string; absent: string[] } => {
  const [first] = errors;
  const place = first?.location;
  const at = place ? ` (${resolve(root, place.file)}:${place.line}:${place.column + 1})` : '';
  const absent = errors.flatMap(({ text, location }) => {
    const specifier = /^Could not resolve "([^"]+)"/.exec(text)?.[1];
    return specifier === undefined || !location
      ? []
      : wouldResolve(dirname(resolve(root, location.file)), specifier);
  });
  return { reason: `${reasonOf(root, first?.text ?? 'unknown')}${at}`, absent };
};

/** Returns esbuild's message, with the name under which a module imports ours. */
const reasonOf = (root: string, text: string): string => {
  const [, file = '', name] =
    /^No matching export in "([^"]+)" for import "([^"]+)"$/.exec(text) ?? [];
  if (name === undefined) return text;
  const isApi = resolve(root, file) === join(root, 'src', 'modules', 'api.ts');
  return `There is no export '${name}' in ${isApi ? 'tsalt-ssh/module' : file}`;
};

/** Returns the paths at which a missing import would be found. */
const wouldResolve = (folder: string, specifier: string): string[] => {
  if (specifier.startsWith('.')) {
    const base = resolve(folder, specifier);
    return ['', '.ts', '.mts', '.js', '.mjs', '.cjs', '/index.ts', '/index.js'].map(
      end => base + end,
    );
  }
  const name = specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
  const places: string[] = [];
  for (let at = folder; ; at = dirname(at)) {
    places.push(join(at, 'node_modules', name));
    if (at === dirname(at)) return places;
  }
};
